/* The helper's words to the launcher. Any thread may speak. */
#ifndef PMIX_API_HELPER_TALK_H
#define PMIX_API_HELPER_TALK_H

#include "pmix_api/wire.h"

/* The socket, and the memory (share.h), as the launcher gives them. */
enum { TALK_FD = 3, SHARE_FD };

/* One message, one packet. Waits while the launcher does not read. A launcher
 * that is gone is noticed by who reads. */
void px_talk(const struct px_msg *msg);
void px_talk_kind(enum px_kind kind);
void px_talk_note(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* An OUTPUT that goes back, of any length. */
void px_talk_output(const struct px_output *output);

#endif
