/* Output of processes of one job on its way to the tool: a connection to the
 * door that attaches to the job and pulls.
 *
 * One that copies is always heard, and what the tool does not take waits here
 * (backlog.h). One that redirects is heard only as fast as the tool takes, and
 * says what the tool has read (TAKEN): all else goes back to the console when
 * the connection ends. Both put together what the pull wants to have so
 * (gather.h).
 *
 * All in the loop's thread. Memory: as these say, and a byte a process.
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

/* Whose the deliveries to the tool are: of each of the last ones the number of
 * its source's owner. */
struct px_source_deliveries {
    uint64_t given;
    uint64_t untold_bytes; /* redirected, since what is taken was looked up */
    const struct px_source *last;          /* whose the last one was */
    uint32_t owners[PX_SOURCE_DELIVERIES]; /* by number of the delivery */
};

struct px_source_cfg {
    const struct px_door_way *way;
    struct ep_writer *writer;
    const char *dir; /* of the file in which output waits */
    struct px_source_deliveries *deliveries;
    uint32_t owner;
    const struct px_scope *scope; /* copied; */
    uint8_t channels;             /* of all of its ranks: bits, 1 << channel */
    struct px_lib_wish wish;
    uint32_t cache_bytes; /* from before; JOB_CACHE_UNSAID */
};

/* Neither may close the source. */
struct px_source_events {
    /* A channel has ended, and the tool is told. */
    void (*on_end)(void *arg, uint32_t base, uint32_t rank, uint8_t channel);
    /* Its state has changed, or there is something to give. */
    void (*on_change)(void *arg);
};

enum px_source_state {
    PX_SOURCE_ASKS,
    PX_SOURCE_LIVE, /* what is written from now on comes */
    PX_SOURCE_GONE, /* nothing more comes from the session */
};

/* Returns 0, OV_ENOMEM or OV_ESYS. It gives nothing before
 * px_source_begin(). */
int px_source_open(const struct px_source_cfg *cfg,
                   const struct px_source_events *events, void *arg,
                   struct px_source **out);
/* What was not taken is dropped, or goes back. NULL is fine. */
void px_source_close(struct px_source *source);

/* The tool may get it from now on. */
void px_source_begin(struct px_source *source);
/* Gives the tool one delivery at most, where there is room for it. Says whether
 * it did. */
bool px_source_give(struct px_source *source, uint64_t now_ms);
enum px_source_state px_source_state(const struct px_source *source);
/* Nothing more comes, and the tool was given all of it. */
bool px_source_is_over(const struct px_source *source);

/* Nothing is given any more. */
void px_source_stop(struct px_source *source);

/* A delivery of it reached nobody. */
void px_source_missed(struct px_source *source, uint64_t delivery);
/* So many are read: says so to the session, if it is to know. */
void px_source_taken(struct px_source *source, uint64_t taken);
/* The session knows what is read; and (settled) nothing that was given is under
 * way any more. */
bool px_source_has_told(const struct px_source *source, uint64_t taken);
bool px_source_is_settled(const struct px_source *source, uint64_t taken);
/* Nothing else reaches the tool: says so, before the source is closed. */
void px_source_settle(struct px_source *source);
/* It has to know what the tool has read. */
bool px_source_redirects(const struct px_source *source);
/* Time has something to do here. */
bool px_source_is_busy(const struct px_source *source);

/* How much may wait for a slow tool: it is bounded by the cache that the tool
 * asks for, too, beside what is from before. */
uint64_t px_source_limit_bytes(const struct px_lib_wish *wish);

uint32_t px_source_base(const struct px_source *source); /* of its job */
uint32_t px_source_owner(const struct px_source *source);
/* Channels of a rank of this job that it has asked for and that have not ended;
 * bits. O(1). */
uint8_t px_source_covers(const struct px_source *source, uint32_t base,
                         uint32_t rank);

#endif
