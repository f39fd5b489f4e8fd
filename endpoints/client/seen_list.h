/* The jobs of a session as a list for a person who is to choose one. */
#ifndef ENDPOINTS_CLIENT_SEEN_LIST_H
#define ENDPOINTS_CLIENT_SEEN_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "endpoints/client/seen.h"

/* Writes a sentence, and a line for each job that is not over: its name, and
 * where its processes are known its command line, how many processes it has, on
 * how many hosts (if it has one program), and how long it has run at `now_s`
 * (since 1970). When size_bytes has no room for all of them, a last line says
 * that there are more. O(jobs + their parts). */
void ep_seen_list(const struct ep_seen *seen, uint64_t now_s, char *text,
                  size_t size_bytes);

#endif
