/* Output that was given to libpmix for pulls of the tool, until it is known
 * whether it has reached the tool: libpmix says so by number. What has not
 * reached it is given again.
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
    /* Owned: what reached no pull, to be given again. */
    struct px_flights_list again;
    /* Owned: the last piece that reached the tool. */
    struct px_flight *landed;
    uint64_t newest; /* number of the newest piece */
};

void px_flights_init(struct px_flights *flights);
void px_flights_fini(struct px_flights *flights);

/* Notes that a piece was given, with a greater number than any before. In its
 * channel it comes after all that is under way, and before all that is to be
 * given again. False: memory is out, and the piece is not noted. O(bytes). */
bool px_flights_add(struct px_flights *flights,
                    const struct px_lib_output *piece, uint64_t number);

/* Notes that the piece with this number reached no pull, and returns it. NULL:
 * there is no such piece. O(flights). */
const struct px_lib_output *px_flights_miss(struct px_flights *flights,
                                            uint64_t number);
/* Gives the next piece that has reached the tool, among those up to the number
 * `taken`. Pieces that reached no pull stay, to be given again. Valid until the
 * next call. NULL: that was all. O(1) amortised. */
const struct px_lib_output *px_flights_land(struct px_flights *flights,
                                            uint64_t taken);

/* The first piece that is to be given again. NULL: there is none. */
const struct px_lib_output *px_flights_again(const struct px_flights *flights);
/* Removes the piece that px_flights_again() returns; there must be one. */
void px_flights_drop(struct px_flights *flights);

/* True when a piece of the same channel is under way with a number up to this,
 * or has reached no pull. O(flights). */
bool px_flights_have(const struct px_flights *flights,
                     const struct px_lib_output *piece, uint64_t number);
/* The number of the first piece that is under way; 0: none is. */
uint64_t px_flights_first(const struct px_flights *flights);
/* True when nothing is under way and nothing is to be given again. */
bool px_flights_are_over(const struct px_flights *flights);

#endif
