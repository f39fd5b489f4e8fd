/* Redirected output that has come back, until the console has written it.
 *
 * The proof has counted it when it went, so it is not counted once more: of a
 * channel no other record may be at the console before the last of these is
 * written. Bytes are copied; who gives them back sends no more than a few
 * before it hears that the console has taken them.
 */
#ifndef ENDPOINTS_RUN_BACK_H
#define ENDPOINTS_RUN_BACK_H

#include <stdbool.h>
#include <stdint.h>

struct back;
struct job_record;
struct run;

struct run_back {
    struct back *first, **last; /* owned, in order */
    uint64_t made;
};

void ep_run_back_open(struct run_back *all);
/* Frees what was not written. */
void ep_run_back_close(struct run_back *all);

/* Keeps a copy. False when memory is out. */
bool ep_run_back_add(struct run_back *all, const struct job_record *rec);

/* Puts to the console what may go: `may` says whether a channel has nothing
 * else there. */
void ep_run_back_show(struct run *r, struct run_back *all,
                      bool (*may)(const struct run *r, uint32_t rank,
                                  uint8_t channel));

/* Is something of the channel here? */
bool ep_run_back_has(const struct run_back *all, uint32_t rank,
                     uint8_t channel);
/* Is some of it, or of any, that may not go yet? */
bool ep_run_back_waits(const struct run_back *all, uint32_t rank,
                       uint8_t channel);
bool ep_run_back_is_waiting(const struct run_back *all);

/* A place has written one of the channel's records: was it one of these? */
bool ep_run_back_written(struct run_back *all, uint32_t place, uint32_t rank,
                         uint8_t channel);
/* Is it the cookie of one of these? */
bool ep_run_back_is(uint64_t cookie);
/* A place has taken that one: was it the last place? */
bool ep_run_back_taken(struct run_back *all, uint64_t cookie);

#endif
