/* The root's share of a node's state: sources and records at the sinks. */
#ifndef OVERLAY_ROOT_H
#define OVERLAY_ROOT_H

#include <stdbool.h>
#include <stdint.h>

/* Root: a record at the sinks. */
struct ov_sunk {
    uint64_t seq;
    uint32_t next; /* of the same source, or free */
    uint32_t source;
    uint32_t len_bytes;
    uint16_t frame;
    bool is_taken;
};

/* Root: what it knows of a source beyond its member entry. */
struct ov_source {
    uint32_t first, last; /* records at the sinks, oldest first */
    uint32_t unacked_bytes;
};

/* Root: of a stream, beside what every node has. */
struct ov_feed {
    uint64_t full_ns; /* since when the window is full; OV_NEVER */
    bool is_stall_told;
};

/* Root: a frame with records at the sinks. */
struct ov_sink_frame {
    uint32_t records; /* not yet taken, plus one while it is being read */
    uint16_t place;
    uint16_t next; /* free list */
};

struct ov_root {
    struct ov_feed *feeds;        /* [streams_max], by stream slot */
    struct ov_source *sources;    /* by member index */
    struct ov_sunk *sunk;         /* [records_max], those below sunk_used */
    struct ov_sink_frame *frames; /* [children_max * up_frames] */
    uint64_t ack_ns;              /* when waiting acknowledgements are due */
    uint64_t absent_ns;           /* who has not joined then is given up */
    uint32_t sunk_free;           /* of those that have been used */
    uint32_t sunk_used;
    uint16_t frames_free;
    uint16_t turn;    /* place to begin with */
    uint16_t witness; /* place whose child was asked to look last */
    bool is_joined_told;
};

#endif
