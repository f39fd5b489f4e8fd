/* Output that was given for pulls of the tool, until it is known what has
 * reached it: libpmix says so by number. What has not comes again.
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
    struct px_flights_list given; /* owned, by number */
    struct px_flights_list again; /* owned: that have reached nobody */
    struct px_flight *landed;     /* owned: the last one that has reached it */
    uint64_t newest;              /* number */
};

void px_flights_init(struct px_flights *flights);
void px_flights_fini(struct px_flights *flights);

/* One more is given, by a greater number than before: of its channel behind all
 * that are under way, and before all that are to come again. False: memory is
 * out, and nothing is known of it. O(bytes). */
bool px_flights_add(struct px_flights *flights,
                    const struct px_lib_output *piece, uint64_t number);

/* It has reached nobody. NULL: it is none of these. O(flights). */
const struct px_lib_output *px_flights_miss(struct px_flights *flights,
                                            uint64_t number);
/* The next one that has reached the tool, of those up to this number; what has
 * reached nobody is to come again. Valid until the next call. NULL: that was
 * all. O(1) amortised. */
const struct px_lib_output *px_flights_land(struct px_flights *flights,
                                            uint64_t taken);

/* The first that is to come again. NULL: there is none. */
const struct px_lib_output *px_flights_again(const struct px_flights *flights);
/* It has gone. There is one. */
void px_flights_drop(struct px_flights *flights);

/* True when a piece of the same channel is under way with a number up to this,
 * or has reached nobody. O(flights). */
bool px_flights_have(const struct px_flights *flights,
                     const struct px_lib_output *piece, uint64_t number);
/* The number of the first that is under way; 0: none is. */
uint64_t px_flights_first(const struct px_flights *flights);
/* Nor is one to come again. */
bool px_flights_are_over(const struct px_flights *flights);

#endif
