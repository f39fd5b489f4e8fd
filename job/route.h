/* Decides where output of the run's own job goes, channel by channel, when a
 * tool may redirect the output and may give it back: to the launcher's places,
 * which are its console and its files, or to the tool.
 *
 *     a channel   is
 *     CLEAR       the places have written all output that they got
 *     SHOWN       the places have output that they have not written yet
 *     KEPT        the tool gave output back that the places have not got yet
 *     BACK        the places have got all output that the tool gave back, and
 *                 have not written all of it yet
 *
 *     a record that is for      CLEAR    SHOWN    KEPT    BACK
 *     the places                places   places   waits   places
 *     the tool                  tool     waits    waits   waits
 *     later                     waits    waits    waits   waits
 *     a tool that asked for     tool     tool     tool    tool
 *       earlier output
 *
 * Records of the channel that already wait always go first. So the places write
 * the output of a channel in its order: first the records that they got before
 * the tool redirected it, then what the tool gave back, then all later records.
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

/* Whom a record is for, by the last request of the tool. */
enum job_route_wish {
    JOB_ROUTE_FOR_PLACES,
    JOB_ROUTE_FOR_TOOL,
    JOB_ROUTE_FOR_LATER, /* the places, but after output that the tool is giving
                            back; or a tool that has no room now */
    JOB_ROUTE_FOR_ASKER, /* a tool that asked for earlier output */
    JOB_ROUTE_WISHES
};

enum job_route_to { JOB_ROUTE_WAITS, JOB_ROUTE_TO_PLACES, JOB_ROUTE_TO_TOOL };

/* A piece of output that the tool gave back. It is a member of a larger struct
 * of the caller. */
struct job_route_back {
    struct job_route_back *next;
    uint32_t channel;
    bool is_shown;  /* the places have got this piece */
    uint8_t takers; /* how many places have not acknowledged the record yet */
    uint8_t left;   /* a bit for each place that has not written it yet */
};

struct job_route;

/* Channels are numbered from 0 to `channels`, cookies from 0 to `cookies`, both
 * exclusive. Returns 0 or OV_ENOMEM. */
int job_route_open(uint32_t channels, uint32_t cookies, struct job_route **out);
/* Frees the route; pieces of output that the tool gave back are the caller's.
 * NULL is fine. */
void job_route_close(struct job_route *route);

/* Decides where a record goes, which is new or has waited. O(1) when no record
 * waits and the tool gave nothing back, else O(records that wait and pieces
 * that came back). */
enum job_route_to job_route_record(struct job_route *route, uint32_t cookie,
                                   uint32_t channel, enum job_route_wish wish);

/* Notes that the caller gave a record of the channel, with bytes, to this many
 * places. */
void job_route_shown(struct job_route *route, uint32_t channel,
                     uint32_t places);
/* Notes that place number `place` (from 0) has written a record of the channel.
 * Returns false when the tool gave that record back: it was counted as output
 * when the tool got it. *is_due becomes true when a turn is due. */
bool job_route_written(struct job_route *route, uint32_t channel,
                       uint32_t place, bool *is_due);

/* A turn looks again at everything that waits: first at output that came back
 * and is due, then at the records that wait, in order. The caller gives each of
 * these records to job_route_record() again, until there is no next one. A turn
 * is due when job_route_written() says so, when the last place has acknowledged
 * a piece that came back, and when the tool has given everything back. */
struct job_route_turn {
    uint32_t next;
};
void job_route_turn(struct job_route *route, struct job_route_turn *turn);
bool job_route_next(const struct job_route *route, struct job_route_turn *turn,
                    uint32_t *cookie);
/* Returns how many records wait, plus 1 when output came back that the places
 * have not got. Unless this is 0, a turn can change something after a place has
 * written or the tool has changed its request. */
uint32_t job_route_waiting(const struct job_route *route);

/* Adds a piece of the channel's output that the tool gave back. */
void job_route_back_add(struct job_route *route, struct job_route_back *back,
                        uint32_t channel);
/* Returns the first piece of output that came back; NULL: there is no such
 * piece. */
struct job_route_back *job_route_backs(const struct job_route *route);
/* Returns a piece that came back and may go to the places now; NULL: there is
 * no such piece. */
struct job_route_back *job_route_back_due(const struct job_route *route);
/* Notes that this many places have got the piece; they have to write it only if
 * it has bytes. */
void job_route_back_shown(struct job_route_back *back, uint32_t places,
                          bool has_bytes);
/* Notes that one place has acknowledged the piece. True when it was the last
 * place. */
bool job_route_back_taken(struct job_route_back *back);
/* Removes and returns a piece that all places have acknowledged and written or,
 * with `any`, the first piece. NULL: there is no such piece. */
struct job_route_back *job_route_back_pop(struct job_route *route, bool any);

/* Returns the state of a channel, for tests and assertions. */
enum job_route_state job_route_state(const struct job_route *route,
                                     uint32_t channel);

#endif
