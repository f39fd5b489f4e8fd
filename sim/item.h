/* Something that is to happen. */
#ifndef SIM_ITEM_H
#define SIM_ITEM_H

#include <stdbool.h>
#include <stdint.h>

struct sim_load;
struct sim_view;

enum sim_item_kind {
    SIM_ITEM_START,
    SIM_ITEM_ARRIVE,  /* a frame's first byte at the port; load, link, era */
    SIM_ITEM_DELIVER, /* and its last */
    SIM_ITEM_SENT,    /* the port is done with the oldest frame of link */
    SIM_ITEM_DOWN,    /* link's end at the port (arg 0), in the node (1) */
    SIM_ITEM_CONNECT, /* to arg */
    SIM_ITEM_DIAL_FAILED,
    SIM_ITEM_PROBED, /* what became of looking for arg */
    SIM_ITEM_TIMER,
    SIM_ITEM_WRITE, /* the process has more lines */
    SIM_ITEM_READ,  /* the process has read stdin up to frame arg */
    SIM_ITEM_CLOSE, /* the process closes its stdin */
    SIM_ITEM_TAKEN, /* the console has the record with cookie arg; view */
    SIM_ITEM_FEED,  /* there is more to feed */
    SIM_ITEM_FAULT, /* the fault arg begins */
    SIM_ITEM_HEAL,  /* and ends */
    SIM_ITEM_LAUNCH_LIMIT, /* the launcher waits no longer for nodes */
    SIM_ITEM_TELL,         /* further job arg of the configuration is told */
    SIM_ITEM_KILL,         /* the job arg, of those told, is to die */
    SIM_ITEM_EXIT,         /* process arg of a further job ends */
    SIM_ITEM_PUSH,         /* push era to the job arg, of those told */
    SIM_ITEM_TIMEOUT,      /* of the run */
    SIM_ITEM_LATE,         /* of its end */
    SIM_ITEM_KINDS
};

struct sim_item {
    uint64_t at_ns;
    union {
        struct sim_load *load; /* one reference */
        struct sim_view *view; /* one reference */
        uint64_t seq;          /* who asked for a probe */
    } what;
    uint32_t node;
    uint32_t era; /* of the link */
    uint32_t arg;
    uint16_t link;
    uint8_t kind; /* enum sim_item_kind */
};

_Static_assert(sizeof(struct sim_item) <= 32, "sim_item outgrew its budget");

static inline bool sim_item_has_load(const struct sim_item *item)
{
    return item->kind == SIM_ITEM_ARRIVE || item->kind == SIM_ITEM_DELIVER;
}

#endif
