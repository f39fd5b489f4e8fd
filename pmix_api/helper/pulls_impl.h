/* What the files of pulls.h share. */
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

/* A pull that is registered. */
struct px_registration {
    uint32_t number; /* 0: the slot is free */
    struct px_scopes scopes;
    uint8_t **open; /* owned [scopes.count][job.size]: channels to come */
    uint64_t open_count;
    struct px_lib_wish wish;
    uint64_t since;  /* deliveries when it was answered */
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
    uint64_t missed;  /* the last one that was looked at */
    uint64_t taken;   /* deliveries, as it was last looked up, */
    bool is_moving;   /* and more than before */
    uint32_t made;    /* pulls */
    uint32_t known;   /* to libpmix, of those that were answered with yes */
    uint32_t asked;   /* the one that waits for its answer; 0: none */
    int64_t asked_ms; /* since when */
    bool is_ending;
    struct event *soon, *tick; /* owned */
};

/* --- registration.c */

/* As px_pulls_on_pull() says. */
enum px_lib_answer px_pulls_judge(const struct px_pulls *pulls,
                                  const struct px_lib_pull *asked,
                                  struct px_scopes *scopes);

/* It wants these channels of its scopes, where they are. Returns 0 or
 * OV_ENOMEM; then, too, it is to be given to px_registration_end(). */
int px_registration_want(struct px_registration *pull, uint16_t channels);
/* The slot is free again. */
void px_registration_end(struct px_registration *pull);

/* What it gets of the job: what it says itself counts first. */
struct px_lib_wish px_registration_wish(const struct px_registration *pull,
                                        const struct px_jobs_entry *job);

/* Channels of a process that it names, of which no end has come; bits. */
uint8_t px_registration_names(const struct px_registration *pull, uint32_t base,
                              uint32_t rank);
/* The tool has it. */
bool px_pulls_has(const struct px_registration *pull);
/* It waits for its answer, and is to have what comes by itself from then on;
 * and from before what it asks for, where no other pull has the channel.
 * Returns 0 or OV_ENOMEM. */
int px_registration_claim(const struct px_registration *pull,
                          struct px_pulls *pulls);
/* As px_forwards_events has them. */
uint8_t px_pulls_pulled(void *arg, uint32_t base, uint32_t rank);
uint64_t px_pulls_since(void *arg, uint32_t base, uint32_t rank,
                        uint8_t channel);

/* --- pulls_state.c */

/* The one with this number; 0: a free slot. NULL: there is none. */
struct px_registration *px_pulls_find(struct px_pulls *pulls, uint32_t number);
/* Tells the user, who may want to know, what becomes of it. */
void px_pulls_note(const struct px_pulls *pulls,
                   const struct px_registration *pull, const char *what);

#endif
