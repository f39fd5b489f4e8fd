/* Somebody who looks on and holds every step to the rules.
 *
 * It knows what goes in and out of a node, frames, events, actions and bytes,
 * and keeps books of its own; nothing is asked of the core. What it checks:
 *
 *   I1  what a process reads is stdin from its beginning, byte after byte;
 *       what the console shows of a process is what it wrote, byte after
 *       byte; and when the job ended well both are complete;
 *   I2  own records, frames of children and frames of streams held in a node
 *       are within their windows after every step;
 *   I3  nobody is lost whom no fault has touched; the run ends;
 *
 *   a child sends nothing beyond the limit it heard, a parent promises no more
 *   than it has room for, to each and to all together; a parent sends nothing
 * beyond the base it heard and the window; a base is no more than everybody
 * beneath has consumed; the root acknowledges what its console has, and no
 * more; no more frames are at a port than the slots; nothing is done on a
 * closed link; and at the end every buffer has come back.
 *
 * The first rule that breaks stops the run: sim_world.why.
 */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include "sim/world.h"

/* Books of a node. */
struct sim_books {
    uint32_t records;     /* handed in, */
    uint32_t shown;       /* to the console, */
    uint32_t taken;       /* by it, */
    uint32_t released;    /* and so heard */
    uint32_t own_bytes;   /* of records held here */
    uint32_t held_bytes;  /* of all frames and records */
    uint32_t owed_frames; /* promised to children and not yet done with */
    uint16_t held_frames;
    uint16_t stream_held[SIM_STREAMS];
};

/* Frames of a child that came over a link which is no more, and are held. */
struct sim_left {
    uint32_t node, child;
    uint32_t era;
    uint32_t frames;
};

/* A link on which frames were promised. */
struct sim_promise {
    uint32_t node;
    uint16_t link;
};

/* A base that a child does not yet bear out. */
struct sim_doubt {
    uint64_t base;
    uint32_t stream;
    uint32_t era;
    uint16_t link;
};

/* A promise is judged when the step that made it is over: what it let go of
 * goes out in the same step. So is a base that is past a child, whose link may
 * end there, and a welcome. */
enum { SIM_PROMISES_MAX = 1024, SIM_DOUBTS_MAX = 64 };

struct sim_check {
    struct sim_books *books;
    struct sim_promise promised[SIM_PROMISES_MAX]; /* in the step going on */
    uint32_t promises;
    struct sim_doubt doubts[SIM_DOUBTS_MAX];
    uint32_t doubts_count;
    bool has_welcomed;
    struct sim_left *left; /* owned */
    uint8_t *told;         /* owned; bit n * nodes + peer; NULL: not kept */
    uint32_t left_count;
    uint64_t views_at_end;
    uint64_t loads_at_end;
};

/* A frame of the root's own begins to be held. */
struct sim_view *sim_check_fed(struct sim_world *w, struct sim_load *load,
                               uint32_t stream);
/* So does a frame that arrives; the load's reference passes. */
struct sim_view *sim_check_arrived(struct sim_world *w, uint32_t n,
                                   uint16_t link, struct sim_load *load);
/* A record goes in. */
void sim_check_record(struct sim_world *w, uint32_t n,
                      const struct ov_read *read);
/* The last reference is gone. */
void sim_check_released(struct sim_world *w, const struct sim_view *view);

void sim_check_send(struct sim_world *w, uint32_t n, uint16_t link,
                    const struct sim_load *load);
void sim_check_sent(struct sim_world *w, uint32_t n, uint16_t link);
/* Node n knows that its link is no more. */
void sim_check_closed(struct sim_world *w, uint32_t n, uint16_t link);
void sim_check_lost(struct sim_world *w, uint32_t peer);
/* Node n hears where a peer listens, and dials it to see whether it does. */
void sim_check_address(struct sim_world *w, uint32_t n, uint32_t peer);
void sim_check_probe(struct sim_world *w, uint32_t n, uint32_t peer);
/* So that node n has no parent. */
void sim_check_orphan(struct sim_world *w, uint32_t n);

void sim_check_consume(struct sim_world *w, uint32_t n,
                       const struct ov_act *act, const struct ov_slice *slice);
void sim_check_shown(struct sim_world *w, const struct ov_act *act,
                     const struct ov_slice *slice);
void sim_check_taken(struct sim_world *w, uint32_t source);

/* Node n was stepped. */
void sim_check_step(struct sim_world *w, uint32_t n);

/* The run is over, before and after the nodes gave their buffers back. */
void sim_check_end(struct sim_world *w);
void sim_check_buffers(struct sim_world *w);

#endif
