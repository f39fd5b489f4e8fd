/* A record on its way through the launcher: bytes of one channel of one
 * process, or the channel's end, with their source. The console, files and
 * clients all receive output in this form.
 *
 * A record and everything that it points to is borrowed; the comment of each
 * function that gets one says for how long.
 */
#ifndef JOB_RECORD_H
#define JOB_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct text_style;

struct job_record {
    uint64_t cookie;    /* identifies the record when a taker gives it back */
    const uint8_t *mem; /* NULL where len_bytes is 0 */
    uint32_t len_bytes;
    uint32_t proc;         /* number of its process in the session */
    uint32_t heard;        /* when not 0, the record is no output: the nodes of
                              this many processes, from proc on, have confirmed
                              the order of `ticket` */
    uint16_t ticket;       /* the order of a late client (job/replay.h) that
                              this record answers; 0: new output */
    uint8_t channel;       /* enum ov_channel */
    bool is_end;           /* the channel ends with this record */
    bool is_cut;           /* with is_end: some bytes of the channel are
                              missing */
    bool is_turn;          /* with a ticket: the last answer for this channel */
    bool is_redirected;    /* only the client that redirects the output gets
                              this record */
    uint64_t before_bytes; /* bytes of the channel that are missing just before
                              this record */

    /* For takers that format the output: */
    uint32_t rank;                  /* rank of the process in its job */
    const struct text_style *style; /* how output of the job is shown; NULL: as
                                       the taker shows it by default */
    const char *host;
    uint64_t time_ns; /* time of arrival, since 1970; for styles with a time */
};

#endif
