/* Output of processes of one job on its way to the tool: a connection to the
 * door that attaches to the job and pulls.
 *
 * A source that copies always reads its connection, and what the tool does not
 * take waits here (backlog.h). A source that redirects reads only as fast as
 * the tool takes, and tells the session what the tool has read (TAKEN): all
 * else goes back to the console when the connection ends. Both put output
 * together where the pull asks for it (gather.h).
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

/* Says to which source each of the last deliveries to the tool belongs, by the
 * owner's number of the source. */
struct px_source_deliveries {
    uint64_t given;
    /* Redirected, since it was last looked up what is taken. */
    uint64_t untold_bytes;
    const struct px_source *last;          /* source of the last delivery */
    uint32_t owners[PX_SOURCE_DELIVERIES]; /* by the delivery's number */
};

struct px_source_cfg {
    const struct px_door_way *way;
    struct ep_writer *writer;
    const char *dir; /* in which the file with waiting output is made */
    struct px_source_deliveries *deliveries;
    uint32_t owner;
    const struct px_scope *scope; /* copied */
    uint8_t channels;             /* of all its ranks: bits, 1 << channel */
    struct px_lib_wish wish;
    /* Earlier output that is asked for, or JOB_CACHE_UNSAID. */
    uint32_t cache_bytes;
};

/* Neither may close the source. */
struct px_source_events {
    /* A channel has ended, and the tool has been told. */
    void (*on_end)(void *arg, uint32_t base, uint32_t rank, uint8_t channel);
    /* The source's state has changed, or there is something to give. */
    void (*on_change)(void *arg);
};

enum px_source_state {
    PX_SOURCE_ASKS,
    PX_SOURCE_LIVE, /* what is written from now on comes */
    PX_SOURCE_GONE, /* nothing more comes from the session */
};

/* Returns 0, OV_ENOMEM or OV_ESYS. The source gives nothing before
 * px_source_begin(). */
int px_source_open(const struct px_source_cfg *cfg,
                   const struct px_source_events *events, void *arg,
                   struct px_source **out);
/* Drops what was not taken, or leaves it to the session when the source
 * redirects. NULL is fine. */
void px_source_close(struct px_source *source);

/* Lets the output go to the tool from now on. */
void px_source_begin(struct px_source *source);
/* Gives the tool at most one delivery, where there is room for it. Returns
 * whether it did. */
bool px_source_give(struct px_source *source, uint64_t now_ms);
enum px_source_state px_source_state(const struct px_source *source);
/* True when nothing more comes and the tool was given all that came. */
bool px_source_is_over(const struct px_source *source);

/* Gives nothing more to the tool. */
void px_source_stop(struct px_source *source);

/* Says that a delivery of this source reached no pull. */
void px_source_missed(struct px_source *source, uint64_t delivery);
/* Says that the tool has read `taken` deliveries, and tells the session where
 * it has to know. */
void px_source_taken(struct px_source *source, uint64_t taken);
/* The first is true when the session knows what the tool has read; the second
 * when, besides, nothing that was given is still under way. */
bool px_source_has_told(const struct px_source *source, uint64_t taken);
bool px_source_is_settled(const struct px_source *source, uint64_t taken);
/* Tells the session, before the source is closed, that nothing else reaches the
 * tool. */
void px_source_settle(struct px_source *source);
/* True when the source redirects: it has to know what the tool has read. */
bool px_source_redirects(const struct px_source *source);
/* True when the passing of time has an effect here. */
bool px_source_is_busy(const struct px_source *source);

/* How many bytes may wait for a slow tool. The cache that the tool asks for is
 * a bound, too, besides that of earlier output. */
uint64_t px_source_limit_bytes(const struct px_lib_wish *wish);

uint32_t px_source_base(const struct px_source *source); /* of its job */
uint32_t px_source_owner(const struct px_source *source);
/* The channels of a rank of this job that the source has asked for and that
 * have not ended; bits. O(1). */
uint8_t px_source_covers(const struct px_source *source, uint32_t base,
                         uint32_t rank);

#endif
