/* Types and functions that the files which implement pulls.h share. */
#ifndef PMIX_API_HELPER_PULLS_IMPL_H
#define PMIX_API_HELPER_PULLS_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/pulls.h"
#include "pmix_api/helper/scope.h"
#include "pmix_api/helper/source.h"

enum { PX_PULLS_SOURCES_MAX = 1024 };

struct event;
struct px_forwards;

/* A pull of the tool, from its request to its end. */
struct px_registration {
    uint32_t number; /* the number of the pull; 0: the slot is free */
    struct px_scopes scopes;
    /* Owned [scopes.count][job.size]: the channels, as bits, of each process
     * that have not ended. */
    uint8_t **open;
    uint64_t open_count;
    struct px_lib_wish wish;
    uint64_t since;  /* how many deliveries there had been when the pull was
                        answered */
    bool is_begun;   /* the pull was answered */
    bool is_stopped; /* the tool has deregistered it */
};

struct px_pulls {
    struct px_pulls_cfg cfg;
    struct px_registration all[PX_PULLS_MAX];
    struct px_source *sources[PX_PULLS_SOURCES_MAX]; /* owned */
    unsigned sources_count, turn;
    struct px_forwards *forwards; /* owned */
    struct px_source_deliveries deliveries;
    uint64_t missed;  /* the last delivery that reached no pull and was dealt
                         with */
    uint64_t taken;   /* how many deliveries the tool had read at the last
                         look */
    bool is_moving;   /* the tool had read more deliveries at the last look than
                         before */
    uint32_t made;    /* how many pulls there were so far */
    uint32_t known;   /* how many pulls libpmix has registered, because they
                       * were answered with yes */
    uint32_t asked;   /* number of the pull that waits for its answer; 0: none
                         does */
    int64_t asked_ms; /* when that pull began to wait */
    bool is_ending;
    struct event *soon, *tick; /* owned */
};

/* --- registration.c */

/* Decides whether a pull can be served, and fills its scopes. Returns the
 * answer for the tool. */
enum px_lib_answer px_pulls_judge(const struct px_pulls *pulls,
                                  const struct px_lib_pull *asked,
                                  struct px_scopes *scopes);

/* Notes that the pull wants these channels, where the processes have them.
 * Returns 0 or OV_ENOMEM; in both cases the pull must be freed by
 * px_registration_end(). */
int px_registration_want(struct px_registration *pull, uint16_t channels);
/* Frees what the pull owns, and its slot. */
void px_registration_end(struct px_registration *pull);

/* How output of this job is to be gathered for the pull: by the directives of
 * the pull, else by the defaults of the job. */
struct px_lib_wish px_registration_wish(const struct px_registration *pull,
                                        const struct px_jobs_entry *job);

/* The channels of a process that the pull names and that have not ended, as
 * bits. */
uint8_t px_registration_names(const struct px_registration *pull, uint32_t base,
                              uint32_t rank);
/* True when the pull is registered in the tool. */
bool px_pulls_has(const struct px_registration *pull);
/* Registers a pull, before it is answered, for output of jobs that the tool has
 * started: it gets new output from then on, and the earlier output that it asks
 * for, where no other pull names the channel. Returns 0 or OV_ENOMEM. */
int px_registration_claim(const struct px_registration *pull,
                          struct px_pulls *pulls);
/* Callbacks for struct px_forwards_events. */
uint8_t px_pulls_pulled(void *arg, uint32_t base, uint32_t rank);
uint64_t px_pulls_since(void *arg, uint32_t base, uint32_t rank,
                        uint8_t channel);

/* --- pulls_state.c */

/* Finds the pull with this number; with 0 a free slot. NULL: there is none. */
struct px_registration *px_pulls_find(struct px_pulls *pulls, uint32_t number);
/* Reports, to users who asked for --verbose, what happens to the pull. */
void px_pulls_note(const struct px_pulls *pulls,
                   const struct px_registration *pull, const char *what);

#endif
