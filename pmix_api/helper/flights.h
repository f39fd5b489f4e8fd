/* Pieces of output that were handed to libpmix for pulls of the tool, until it
 * is known whether they have reached the tool, which lib.h reports by the
 * pieces' numbers. A piece that did not reach the tool is handed over again.
 *
 * Not thread-safe. Memory: a copy of each piece.
 */
#ifndef PMIX_API_HELPER_FLIGHTS_H
#define PMIX_API_HELPER_FLIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "pmix_api/helper/lib/lib.h"

struct px_flight;

struct px_flights_list {
    struct px_flight *first, **last;
};

struct px_flights {
    struct px_flights_list given; /* owned, in the order of their numbers */
    /* Owned: pieces that reached no pull, which are to be handed over again. */
    struct px_flights_list again;
    /* Owned: the last piece that reached the tool. */
    struct px_flight *landed;
    uint64_t newest; /* number of the newest piece */
};

void px_flights_init(struct px_flights *flights);
void px_flights_fini(struct px_flights *flights);

/* Notes a piece that was handed to libpmix; its number must be greater than
 * those of all earlier pieces. In its channel it comes after the pieces that
 * are under way, and before those that are to be handed over again. False:
 * memory is out, and the piece is not noted. O(bytes). */
bool px_flights_add(struct px_flights *flights,
                    const struct px_lib_output *piece, uint64_t number);

/* Notes that the piece with this number reached no pull, and returns it. NULL:
 * there is no such piece. O(flights). */
const struct px_lib_output *px_flights_miss(struct px_flights *flights,
                                            uint64_t number);
/* Removes and returns the next piece, with a number up to `taken`, that has
 * reached the tool. Pieces that reached no pull stay. Valid until the next
 * call. NULL: there is no further piece. O(1) amortised. */
const struct px_lib_output *px_flights_land(struct px_flights *flights,
                                            uint64_t taken);

/* The first piece that is to be handed over again. NULL: there is no such
 * piece. */
const struct px_lib_output *px_flights_again(const struct px_flights *flights);
/* Removes the piece that px_flights_again() returns; there must be one. */
void px_flights_drop(struct px_flights *flights);

/* True when a piece of the same channel as `piece` has reached no pull, or is
 * under way with a number up to `number`. O(flights). */
bool px_flights_have(const struct px_flights *flights,
                     const struct px_lib_output *piece, uint64_t number);
/* The number of the first piece that is under way; 0: no piece is. */
uint64_t px_flights_first(const struct px_flights *flights);
/* True when no piece is under way and none is to be handed over again. */
bool px_flights_are_over(const struct px_flights *flights);

#endif
