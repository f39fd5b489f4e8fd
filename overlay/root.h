/* The root's part of a node's state: sources, and records at the sinks. */
#ifndef OVERLAY_ROOT_H
#define OVERLAY_ROOT_H

#include <stdbool.h>
#include <stdint.h>

/* A record at the sinks. */
struct ov_sunk {
    uint64_t seq;
    uint32_t next; /* next of the same source, or next free one */
    uint32_t source;
    uint32_t len_bytes;
    uint16_t frame;
    bool is_taken;
};

/* What the root knows of a source beside its member entry. */
struct ov_source {
    uint32_t first, last; /* records at the sinks, oldest first */
    uint32_t unacked_bytes;
};

/* What the root has for each stream, beside what every node has. */
struct ov_feed {
    uint64_t full_ns; /* when the window became full; OV_NEVER: it is not */
    bool is_stall_told;
};

/* A frame with records at the sinks. */
struct ov_sink_frame {
    uint32_t records; /* not yet taken; one more while it is being read */
    uint16_t place;
    uint16_t next; /* next in the free list */
};

struct ov_root {
    struct ov_feed *feeds;        /* [streams_max], by stream slot */
    struct ov_source *sources;    /* by member index */
    struct ov_sunk *sunk;         /* [records_max]; those below sunk_used
                                     were used */
    struct ov_sink_frame *frames; /* [children_max * up_frames] */
    uint64_t ack_ns;              /* when waiting acknowledgements are due */
    uint64_t absent_ns;           /* when nodes that have not joined are
                                     given up */
    uint32_t sunk_free;           /* first of those that were used before */
    uint32_t sunk_used;
    uint16_t frames_free;
    uint16_t turn;    /* place to begin with next time */
    uint16_t witness; /* place whose child was asked to dial last */
    bool is_joined_told;
};

#endif
