/* What a run tells its taps: PMIx tools, and the clients of its door. */
#ifndef ENDPOINTS_RUN_TAP_H
#define ENDPOINTS_RUN_TAP_H

#include "endpoints/client/taps.h"

struct job_record;
struct job;
struct run;

struct run_tap_events {
    /* ep_run_tap_is_awaited() is over, or a job is that the tap has started:
     * the run may be. */
    void (*on_end)(struct run *r);
    /* As of struct ep_tap_events. */
    void (*on_gone)(struct run *r, uint64_t cookie);
    void (*on_returned)(struct run *r, uint64_t cookie);
    bool (*on_back)(struct run *r, unsigned tap,
                    const struct job_record *output);
    void (*on_back_over)(struct run *r);
    void (*on_push)(struct run *r, uint32_t base, uint64_t writer,
                    const uint8_t *mem, uint32_t len_bytes);
    void (*on_left)(struct run *r, uint32_t base, uint64_t writer);
    void (*on_pushers)(struct run *r, bool are_there);
    bool (*on_wanted)(struct run *r);
    void (*on_hold)(struct run *r, const struct topo_range *range,
                    bool is_held);
    /* As of struct ep_tap_events. */
    bool (*on_spawn)(struct run *r, const struct ep_tap_spawn *spawn,
                     struct ep_tap_spawned *out, char *why);
    void (*on_up)(struct run *r, const char *uri);
    void (*on_given_up)(struct run *r, const char *why);
    /* The job with this base; NULL: there is none any more. */
    const struct job *(*on_find)(struct run *r, uint32_t base);
};

/* Opens them, and tells them who reads stdin. Their words go to the events of
 * r->taps. Returns whether PMIx tools have one; where they have none, the door
 * says why. */
bool ep_run_tap_open(struct run *r);
void ep_run_tap_close(struct run *r);
/* How many parts a job has, for those who ask with on_part. */
uint32_t ep_run_tap_parts(const struct job *job);

/* A record; who wants it holds it for himself. What the one does that does the
 * most with it, in the order of enum ep_tap_output. */
enum ep_tap_output ep_run_tap_output(struct run *r,
                                     const struct job_record *rec);
/* Can every tap take the record now? See has_room of struct ep_tap_ops. */
bool ep_run_tap_has_room(const struct run *r, const struct job_record *rec);
/* Is this channel of a job that the tap has started for anybody? */
bool ep_run_tap_wants(const struct run *r, uint32_t number, uint8_t channel);
void ep_run_tap_started(struct run *r, uint32_t rank, const uint32_t *pids,
                        uint32_t count);
/* Nothing is heard of these ranks any more. */
void ep_run_tap_lost(struct run *r, uint32_t first, uint32_t count);
/* One waits for output from before. */
bool ep_run_tap_replays(const struct run *r);
bool ep_run_tap_redirects(const struct run *r, uint32_t rank, uint8_t channel);
bool ep_run_tap_gives_back(const struct run *r, uint32_t rank, uint8_t channel);
/* One output of on_back of this tap is on its way. */
void ep_run_tap_took_back(struct run *r, unsigned tap);
void ep_run_tap_exit(struct run *r, uint32_t rank, uint32_t status);

/* Text with that token has been written. */
void ep_run_tap_logged(struct run *r, uint64_t token);
/* These ranks have a stdin; or they have none any more. */
void ep_run_tap_stdin(struct run *r, uint32_t first, uint32_t last,
                      bool is_open);
/* This process of a further job is behind in its stdin, or no longer is. */
void ep_run_tap_behind(struct run *r, uint32_t number, bool is_behind);
/* The oldest push of this writer, as of on_push, is in its stream. */
void ep_run_tap_pushed(struct run *r, uint64_t writer);
void ep_run_tap_job(struct run *r, const struct ep_tap_job *job);
/* What was put off can be tried again. */
void ep_run_tap_again(struct run *r);

/* No output follows. True when none has anything left to do. */
bool ep_run_tap_flush(struct run *r);
/* One was told so and has not answered. */
bool ep_run_tap_is_awaited(const struct run *r);

#endif
