/* A source delivers output of processes of one job to the tool. It has a
 * connection to the door, which attaches to the job and pulls the output.
 *
 * A source that copies always reads its connection, and output that the tool
 * does not read yet waits in the source (backlog.h). A source that redirects
 * reads only as fast as the tool does, and reports to the session what the tool
 * has read (TAKEN); all other output goes to the console when the connection
 * ends. Both gather small pieces when the pull asks for it (gather.h).
 *
 * All in the loop's thread. Memory: that of a backlog and a gather, and a byte
 * for each process.
 */
#ifndef PMIX_API_HELPER_SOURCE_H
#define PMIX_API_HELPER_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"
#include "pmix_api/helper/scope.h"

struct ep_writer;
struct px_door_way;
struct px_source;

enum { PX_SOURCE_DELIVERIES = 4096 };

/* Records to which source each of the last deliveries to the tool belongs.
 * Sources are named by the numbers that their owner gave them. */
struct px_source_deliveries {
    uint64_t given;
    /* Bytes of redirected output that were delivered since the owner last
     * looked how much the tool has read. */
    uint64_t untold_bytes;
    const struct px_source *last;          /* the source of the last delivery */
    uint32_t owners[PX_SOURCE_DELIVERIES]; /* indexed by the delivery's number,
                                              modulo the size */
};

struct px_source_cfg {
    const struct px_door_way *way;
    struct ep_writer *writer;
    const char *dir; /* in which the file with waiting output is made */
    struct px_source_deliveries *deliveries;
    uint32_t owner;
    const struct px_scope *scope; /* copied */
    uint8_t channels;             /* Which channels to pull from each rank of
                                   * the scope: bits, 1 << channel. */
    struct px_lib_wish wish;
    /* Bytes of earlier output of each channel to ask for, or JOB_CACHE_UNSAID.
     */
    uint32_t cache_bytes;
};

/* The callbacks must not close the source. */
struct px_source_events {
    /* A channel has ended, and the tool knows. */
    void (*on_end)(void *arg, uint32_t base, uint32_t rank, uint8_t channel);
    /* The state of the source has changed, or it has output to deliver. */
    void (*on_change)(void *arg);
};

enum px_source_state {
    PX_SOURCE_ASKS,
    PX_SOURCE_LIVE, /* the session has answered: the source gets new output from
                       now on */
    PX_SOURCE_GONE, /* the connection has ended */
};

/* Opens a source, which delivers nothing before px_source_begin(). Returns 0,
 * OV_ENOMEM or OV_ESYS. */
int px_source_open(const struct px_source_cfg *cfg,
                   const struct px_source_events *events, void *arg,
                   struct px_source **out);
/* Closes the source. Output that was not delivered is dropped, or goes to the
 * console when the source redirects. NULL is fine. */
void px_source_close(struct px_source *source);

/* Lets the source deliver output to the tool from now on. */
void px_source_begin(struct px_source *source);
/* Makes at most one delivery to the tool, if there is room for it. Returns true
 * when it made one. */
bool px_source_give(struct px_source *source, uint64_t now_ms);
enum px_source_state px_source_state(const struct px_source *source);
/* True when the connection has ended and all output was delivered. */
bool px_source_is_over(const struct px_source *source);

/* Stops the source: it delivers nothing more. */
void px_source_stop(struct px_source *source);

/* Notes that a delivery of this source reached no pull. */
void px_source_missed(struct px_source *source, uint64_t delivery);
/* Notes that the tool has read the first `taken` deliveries, and reports this
 * to the session when the source redirects. */
void px_source_taken(struct px_source *source, uint64_t taken);
/* px_source_has_told() is true when everything that the tool has read was
 * reported to the session; px_source_is_settled() when, besides, none of its
 * deliveries is still under way. */
bool px_source_has_told(const struct px_source *source, uint64_t taken);
bool px_source_is_settled(const struct px_source *source, uint64_t taken);
/* Reports to the session, before the source is closed, that no further output
 * reaches the tool. */
void px_source_settle(struct px_source *source);
/* True when the source redirects output, so that the session must learn what
 * the tool has read. */
bool px_source_redirects(const struct px_source *source);
/* True when output waits for time to pass. */
bool px_source_is_busy(const struct px_source *source);

/* How many bytes of output may wait for a slow tool. A cache size that the tool
 * asks for also limits this. */
uint64_t px_source_limit_bytes(const struct px_lib_wish *wish);

/* Returns the base of the source's job. */
uint32_t px_source_base(const struct px_source *source);
uint32_t px_source_owner(const struct px_source *source);
/* The channels of a rank of this job that the source pulls and that have not
 * ended, as bits. O(1). */
uint8_t px_source_covers(const struct px_source *source, uint32_t base,
                         uint32_t rank);

#endif
