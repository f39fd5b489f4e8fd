/* The jobs of a session as a list from which a person can choose one. */
#ifndef ENDPOINTS_CLIENT_SEEN_LIST_H
#define ENDPOINTS_CLIENT_SEEN_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "endpoints/client/seen.h"

/* Writes a sentence, and a line for each job that is not over: its name; where
 * its processes are known, its command line and the number of its processes;
 * the number of hosts if it has one program; and how long it has run at `now_s`
 * (seconds since 1970). When there is no room for all of them in size_bytes, a
 * last line says that there are more. O(jobs + their parts). */
void ep_seen_list(const struct ep_seen *seen, uint64_t now_s, char *text,
                  size_t size_bytes);

#endif
