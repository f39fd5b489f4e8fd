/* A record on its way through the launcher: bytes of one channel of one
 * process, or the channel's end, with their source. Everything that takes
 * output gets this type: console, files, tools.
 *
 * A record and all that it refers to is borrowed; each taker says for how long.
 */
#ifndef JOB_RECORD_H
#define JOB_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct text_style;

struct job_record {
    uint64_t cookie;    /* identifies it when it is given back */
    const uint8_t *mem; /* NULL where len_bytes is 0 */
    uint32_t len_bytes;
    uint32_t proc;         /* number of its process in the session */
    uint32_t heard;        /* with a ticket: not output; this many processes,
                              from proc on, have the order */
    uint16_t ticket;       /* order of a client that comes late (job/replay.h),
                              which this answers; 0: new output */
    uint8_t channel;       /* enum ov_channel */
    bool is_end;           /* the channel ends here, */
    bool is_cut;           /* and some of its bytes never came */
    bool is_turn;          /* with a ticket: the last answer for this channel */
    bool is_redirected;    /* goes only to the client that redirects */
    uint64_t before_bytes; /* bytes missing just before it */

    /* For takers that format the output. */
    uint32_t rank;                  /* of the process in its job */
    const struct text_style *style; /* of its job; NULL: the taker's own */
    const char *host;
    uint64_t time_ns; /* time of arrival, since 1970; for styles with a time */
};

#endif
