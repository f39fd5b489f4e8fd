/* What the files that implement pulls.h share. */
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

/* A registered pull. */
struct px_registration {
    uint32_t number; /* 0: the slot is free */
    struct px_scopes scopes;
    /* Owned [scopes.count][job.size]: channels whose end has not come. */
    uint8_t **open;
    uint64_t open_count;
    struct px_lib_wish wish;
    uint64_t since;  /* number of deliveries when it was answered */
    bool is_begun;   /* it is answered */
    bool is_stopped; /* the tool has deregistered it */
};

struct px_pulls {
    struct px_pulls_cfg cfg;
    struct px_registration all[PX_PULLS_MAX];
    struct px_source *sources[PX_PULLS_SOURCES_MAX]; /* owned */
    unsigned sources_count, turn;
    struct px_forwards *forwards; /* owned */
    struct px_source_deliveries deliveries;
    uint64_t missed;  /* last missed delivery that was looked at */
    uint64_t taken;   /* deliveries read, as last looked up, */
    bool is_moving;   /* and more than the time before */
    uint32_t made;    /* pulls made so far */
    uint32_t known;   /* pulls that libpmix knows: answered with yes */
    uint32_t asked;   /* number of the one that waits for its answer; 0: none */
    int64_t asked_ms; /* since when it waits */
    bool is_ending;
    struct event *soon, *tick; /* owned */
};

/* --- registration.c */

/* Judges a pull and fills its scopes. Returns what px_pulls_on_pull() says. */
enum px_lib_answer px_pulls_judge(const struct px_pulls *pulls,
                                  const struct px_lib_pull *asked,
                                  struct px_scopes *scopes);

/* Notes that the pull wants these channels of its scopes, where they exist.
 * Returns 0 or OV_ENOMEM; in both cases px_registration_end() is to follow. */
int px_registration_want(struct px_registration *pull, uint16_t channels);
/* Frees what the pull owns, and its slot. */
void px_registration_end(struct px_registration *pull);

/* How the pull wishes to get the output of this job: what it says itself comes
 * before what the job says. */
struct px_lib_wish px_registration_wish(const struct px_registration *pull,
                                        const struct px_jobs_entry *job);

/* The channels of a process that the pull names and that have not ended;
 * bits. */
uint8_t px_registration_names(const struct px_registration *pull, uint32_t base,
                              uint32_t rank);
/* True when the tool has this pull. */
bool px_pulls_has(const struct px_registration *pull);
/* Claims output for a pull that waits for its answer: all that comes without a
 * pull from then on, and the earlier output that it asks for, where no other
 * pull has the channel. Returns 0 or OV_ENOMEM. */
int px_registration_claim(const struct px_registration *pull,
                          struct px_pulls *pulls);
/* As px_forwards_events has them. */
uint8_t px_pulls_pulled(void *arg, uint32_t base, uint32_t rank);
uint64_t px_pulls_since(void *arg, uint32_t base, uint32_t rank,
                        uint8_t channel);

/* --- pulls_state.c */

/* The pull with this number; with 0 a free slot. NULL: there is none. */
struct px_registration *px_pulls_find(struct px_pulls *pulls, uint32_t number);
/* Notes what becomes of the pull, for users who want to know all. */
void px_pulls_note(const struct px_pulls *pulls,
                   const struct px_registration *pull, const char *what);

#endif
