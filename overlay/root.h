/* What only the root has in its state: the sources of records, and the records
 * that it has handed to its sinks. */
#ifndef OVERLAY_ROOT_H
#define OVERLAY_ROOT_H

#include <stdbool.h>
#include <stdint.h>

/* A record that the root has handed to its sinks. */
struct ov_sunk {
    uint64_t seq;
    uint32_t next; /* next record of the same source, or next free entry */
    uint32_t source;
    uint32_t len_bytes;
    uint16_t frame;
    bool is_taken;
};

/* What the root keeps for a source of records, beside its member entry. */
struct ov_source {
    uint32_t first, last; /* list of its records that the sinks have and that
                             are not yet acknowledged, oldest first */
    uint32_t unacked_bytes;
};

/* What the root keeps for a stream, beside what every node keeps. */
struct ov_feed {
    uint64_t full_ns; /* when the window became full; OV_NEVER while it is not
                         full */
    bool is_stall_told;
};

/* A received frame from which the root has handed records to its sinks. */
struct ov_sink_frame {
    uint32_t records; /* how many of its records the sinks have not yet taken;
                         one more while the root still reads the frame */
    uint16_t place;
    uint16_t next; /* next entry in the list of free ones */
};

struct ov_root {
    struct ov_feed *feeds;        /* [streams_max] indexed by stream slot */
    struct ov_source *sources;    /* indexed by member index */
    struct ov_sunk *sunk;         /* [records_max]; all in use have an index
                                     below sunk_used */
    struct ov_sink_frame *frames; /* [children_max * up_frames] */
    uint64_t ack_ns;              /* when the acknowledgements that wait are
                                     sent */
    uint64_t absent_ns;           /* when the nodes that have not joined are
                                     given up */
    uint32_t sunk_free;           /* first entry of sunk that was used and is
                                     free again */
    uint32_t sunk_used;
    uint16_t frames_free;
    uint16_t turn;    /* place whose queue is read first the next time */
    uint16_t witness; /* place of the child that was asked last to dial as
                         second witness */
    bool is_joined_told;
};

#endif
