/* A record on its way through the launcher: bytes of one channel of one
 * process, or the channel's end, with whose they are. All who take output get
 * this one: console, files, tools.
 *
 * It is borrowed, as all that it refers to: what of it for how long, each taker
 * says.
 */
#ifndef JOB_RECORD_H
#define JOB_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct text_style;

struct job_record {
    uint64_t cookie;    /* by which it is given back */
    const uint8_t *mem; /* NULL where len_bytes is 0 */
    uint32_t len_bytes;
    uint32_t proc;      /* its process, by its number in the session */
    uint32_t heard;     /* with a ticket: no output; the nodes of so many
                           processes from proc on have the order; 0: output */
    uint16_t ticket;    /* from before, for whoever asked (job/replay.h); 0: it
                           is new */
    uint8_t channel;    /* enum ov_channel */
    bool is_end;        /* the channel ends with it, */
    bool is_cut;        /* and not all of the channel came, nor will */
    bool is_turn;       /* with a ticket: the channel's last */
    bool is_redirected; /* nobody else has it */
    uint64_t before_bytes; /* missing just before it */

    /* How it is shown; for those who do. */
    uint32_t rank;                  /* of the process in its job */
    const struct text_style *style; /* of its job; NULL: that of the taker */
    const char *host;
    uint64_t time_ns; /* of arrival, since 1970; for styles with a time */
};

#endif
