/* Where output of the run's own job goes, channel by channel, when a tool may
 * take it for itself and may give it back: to the places of the launcher, which
 * are console and files, or to the tool.
 *
 *     a channel   is
 *     CLEAR       the places have written all of it that they had
 *     SHOWN       they have some of it yet to write
 *     KEPT        some has come back that they do not have yet
 *     BACK        they have all that has come back, and have yet to write it
 *
 *     a record that is for      CLEAR    SHOWN    KEPT    BACK
 *     the places                places   places   waits   places
 *     the tool                  tool     waits    waits   waits
 *     later                     waits    waits    waits   waits
 *     a tool that asked for     tool     tool     tool    tool
 *       output from before
 *
 * What waits of its channel goes first, in any case. So the places write a
 * channel in its order: what they have counted of it is a beginning of it, then
 * what the tool has had and given back, then the rest.
 *
 * Pure: which records are meant is said by their cookies and channels, which
 * are numbers. Memory: 4 bytes for each channel, 8 for each cookie.
 */
#ifndef JOB_ROUTE_H
#define JOB_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

enum job_route_state {
    JOB_ROUTE_CLEAR,
    JOB_ROUTE_SHOWN,
    JOB_ROUTE_KEPT,
    JOB_ROUTE_BACK,
    JOB_ROUTE_STATES
};

/* What a record is for, as the tool has said last. */
enum job_route_wish {
    JOB_ROUTE_FOR_PLACES,
    JOB_ROUTE_FOR_TOOL,
    JOB_ROUTE_FOR_LATER, /* the places, behind what is coming back; or a tool
                            that has no room now */
    JOB_ROUTE_FOR_ASKER, /* a tool that asked for output from before */
    JOB_ROUTE_WISHES
};

enum job_route_to { JOB_ROUTE_WAITS, JOB_ROUTE_TO_PLACES, JOB_ROUTE_TO_TOOL };

/* Something that has come back; it lies in what the caller keeps of it. */
struct job_route_back {
    struct job_route_back *next;
    uint32_t channel;
    bool is_shown;  /* the places have it, */
    uint8_t takers; /* so many of them have yet to take it, */
    uint8_t left;   /* and these, a bit each, have yet to write it */
};

struct job_route;

/* Channels from 0 to `channels`, cookies from 0 to `cookies`. Returns 0 or
 * OV_ENOMEM. */
int job_route_open(uint32_t channels, uint32_t cookies, struct job_route **out);
/* What has come back is the caller's. NULL is fine. */
void job_route_close(struct job_route *route);

/* Where a record goes, one that waits now or a new one. O(1) where nothing
 * waits and nothing has come back, else O(all of that). */
enum job_route_to job_route_record(struct job_route *route, uint32_t cookie,
                                   uint32_t channel, enum job_route_wish wish);

/* A record of the channel, with bytes, is at so many places. */
void job_route_shown(struct job_route *route, uint32_t channel,
                     uint32_t places);
/* A place, counted from 0, has written one of the channel's records. False:
 * that had come back, and was counted when the tool got it. *is_due: a turn is
 * due. */
bool job_route_written(struct job_route *route, uint32_t channel,
                       uint32_t place, bool *is_due);

/* A turn: first what has come back and is due, then those that wait, in order,
 * each of which is to be told to job_route_record() anew, until there is no
 * next one. It is due when a write says so, when the last place has taken what
 * had come back, and when the tool gives nothing more back. */
struct job_route_turn {
    uint32_t next;
};
void job_route_turn(struct job_route *route, struct job_route_turn *turn);
bool job_route_next(const struct job_route *route, struct job_route_turn *turn,
                    uint32_t *cookie);
/* How many wait, and whether something has come back that the places do not
 * have: a turn may change that, after a write or another wish. */
uint32_t job_route_waiting(const struct job_route *route);

/* Something of the channel has come back. */
void job_route_back_add(struct job_route *route, struct job_route_back *back,
                        uint32_t channel);
/* All of them, in order; NULL: none. */
struct job_route_back *job_route_backs(const struct job_route *route);
/* One that the places may have now; NULL: none. */
struct job_route_back *job_route_back_due(const struct job_route *route);
/* They have it; without bytes there is nothing to be written. */
void job_route_back_shown(struct job_route_back *back, uint32_t places,
                          bool has_bytes);
/* One of them has taken it: was it the last one? */
bool job_route_back_taken(struct job_route_back *back);
/* Takes out one that is taken and written, or with `any` the first; NULL: there
 * is none. */
struct job_route_back *job_route_back_pop(struct job_route *route, bool any);

/* What a channel is; for tests and assertions. */
enum job_route_state job_route_state(const struct job_route *route,
                                     uint32_t channel);

#endif
