/* Where output of the run's own job goes, channel by channel, when a tool may
 * redirect it and may give it back: to the places of the launcher, which are
 * console and files, or to the tool.
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
 * Records of the channel that already wait always go first. So the places write
 * a channel in its order: first what they have counted of it, then what the
 * tool took and gave back, then the rest.
 *
 * Pure: records are named by their cookies and channels, which are numbers.
 * Memory: 4 bytes for each channel, 8 for each cookie.
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

/* Whom a record is for, as the tool has said last. */
enum job_route_wish {
    JOB_ROUTE_FOR_PLACES,
    JOB_ROUTE_FOR_TOOL,
    JOB_ROUTE_FOR_LATER, /* the places, after what is coming back; or a tool
                            that has no room now */
    JOB_ROUTE_FOR_ASKER, /* a tool that asked for earlier output */
    JOB_ROUTE_WISHES
};

enum job_route_to { JOB_ROUTE_WAITS, JOB_ROUTE_TO_PLACES, JOB_ROUTE_TO_TOOL };

/* Output that has come back. It is a part of a larger struct of the caller. */
struct job_route_back {
    struct job_route_back *next;
    uint32_t channel;
    bool is_shown;  /* the places have got it, */
    uint8_t takers; /* this many of them have not taken it yet, */
    uint8_t left;   /* and these, one bit each, have not written it yet */
};

struct job_route;

/* Channels are numbered from 0 to `channels`, cookies from 0 to `cookies`, both
 * exclusive. Returns 0 or OV_ENOMEM. */
int job_route_open(uint32_t channels, uint32_t cookies, struct job_route **out);
/* Output that has come back belongs to the caller. NULL is fine. */
void job_route_close(struct job_route *route);

/* Decides where a record goes, a new one or one that waits. O(1) where nothing
 * waits and nothing has come back, else O(what waits or has come back). */
enum job_route_to job_route_record(struct job_route *route, uint32_t cookie,
                                   uint32_t channel, enum job_route_wish wish);

/* A record of the channel, with bytes, was given to this many places. */
void job_route_shown(struct job_route *route, uint32_t channel,
                     uint32_t places);
/* A place, counted from 0, has written one of the channel's records. False: the
 * record had come back, and was already counted when the tool got it. *is_due:
 * a turn is due. */
bool job_route_written(struct job_route *route, uint32_t channel,
                       uint32_t place, bool *is_due);

/* A turn looks again at all that waits: first at output that has come back and
 * is due, then at the records that wait, in order; the caller gives each again
 * to job_route_record() until there is no next one. A turn is due when
 * job_route_written() says so, when the last place has taken what had come
 * back, and when the tool has given everything back. */
struct job_route_turn {
    uint32_t next;
};
void job_route_turn(struct job_route *route, struct job_route_turn *turn);
bool job_route_next(const struct job_route *route, struct job_route_turn *turn,
                    uint32_t *cookie);
/* How many records wait, and whether some output has come back that the places
 * have not got: then a turn may change something, after a write or another
 * wish. */
uint32_t job_route_waiting(const struct job_route *route);

/* Adds output of the channel that has come back. */
void job_route_back_add(struct job_route *route, struct job_route_back *back,
                        uint32_t channel);
/* The first of all that has come back, in order; NULL: there is none. */
struct job_route_back *job_route_backs(const struct job_route *route);
/* One that may go to the places now; NULL: there is none. */
struct job_route_back *job_route_back_due(const struct job_route *route);
/* The places have got it; without bytes they have nothing to write. */
void job_route_back_shown(struct job_route_back *back, uint32_t places,
                          bool has_bytes);
/* One place has taken it. True when it was the last one. */
bool job_route_back_taken(struct job_route_back *back);
/* Removes one that is taken and written or, with `any`, the first one. NULL:
 * there is none. */
struct job_route_back *job_route_back_pop(struct job_route *route, bool any);

/* The state of a channel; for tests and assertions. */
enum job_route_state job_route_state(const struct job_route *route,
                                     uint32_t channel);

#endif
