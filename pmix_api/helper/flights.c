/* Keeps pieces of output on their way to pulls of the tool. */
#include "pmix_api/helper/flights.h"

#include <stdlib.h>
#include <string.h>

struct px_flight {
    struct px_flight *next;
    uint64_t number;
    uint64_t newest; /* the number of the newest piece when this piece was put
                      * into `again` */
    bool is_missed;
    struct px_lib_output piece; /* the bytes of the piece follow this struct in
                                 * memory */
};

static void push(struct px_flights_list *list, struct px_flight *one)
{
    one->next = NULL;
    *list->last = one;
    list->last = &one->next;
}

static bool are_of_one(const struct px_flight *one,
                       const struct px_lib_output *piece)
{
    return one->piece.rank == piece->rank &&
           one->piece.channel == piece->channel;
}

/* Puts a piece into `again`, before the pieces that were in that list already
 * when this piece was handed to libpmix. */
static void put_again(struct px_flights *flights, struct px_flight *one)
{
    struct px_flights_list *list = &flights->again;
    struct px_flight **at = &list->first;

    while (*at != NULL &&
           !(are_of_one(*at, &one->piece) && (*at)->newest < one->number))
        at = &(*at)->next;
    one->newest = flights->newest;
    one->next = *at;
    *at = one;
    if (one->next == NULL)
        list->last = &one->next;
}

static struct px_flight *pop(struct px_flights_list *list)
{
    struct px_flight *one = list->first;

    list->first = one->next;
    if (list->first == NULL)
        list->last = &list->first;
    return one;
}

static void empty(struct px_flights_list *list)
{
    while (list->first != NULL)
        free(pop(list));
}

void px_flights_init(struct px_flights *flights)
{
    *flights = (struct px_flights){.landed = NULL};
    flights->given.last = &flights->given.first;
    flights->again.last = &flights->again.first;
}

void px_flights_fini(struct px_flights *flights)
{
    empty(&flights->given);
    empty(&flights->again);
    free(flights->landed);
    flights->landed = NULL;
}

bool px_flights_add(struct px_flights *flights,
                    const struct px_lib_output *piece, uint64_t number)
{
    struct px_flight *one = malloc(sizeof(*one) + piece->len_bytes);

    if (one == NULL)
        return false;
    flights->newest = number;
    *one = (struct px_flight){.number = number, .piece = *piece};
    one->piece.mem = one + 1;
    if (piece->len_bytes > 0)
        memcpy(one + 1, piece->mem, piece->len_bytes);
    push(&flights->given, one);
    return true;
}

const struct px_lib_output *px_flights_miss(struct px_flights *flights,
                                            uint64_t number)
{
    for (struct px_flight *at = flights->given.first; at != NULL;
         at = at->next) {
        if (at->number != number)
            continue;
        at->is_missed = true;
        return &at->piece;
    }
    return NULL;
}

const struct px_lib_output *px_flights_land(struct px_flights *flights,
                                            uint64_t taken)
{
    struct px_flights_list *given = &flights->given;

    free(flights->landed);
    flights->landed = NULL;
    while (given->first != NULL && given->first->number <= taken) {
        struct px_flight *one = pop(given);

        if (!one->is_missed) {
            flights->landed = one;
            return &one->piece;
        }
        put_again(flights, one);
    }
    return NULL;
}

const struct px_lib_output *px_flights_again(const struct px_flights *flights)
{
    return flights->again.first != NULL ? &flights->again.first->piece : NULL;
}

void px_flights_drop(struct px_flights *flights)
{
    free(pop(&flights->again));
}

bool px_flights_have(const struct px_flights *flights,
                     const struct px_lib_output *piece, uint64_t number)
{
    for (const struct px_flight *at = flights->given.first; at != NULL;
         at = at->next) {
        if (are_of_one(at, piece) && (at->number <= number || at->is_missed))
            return true;
    }
    return false;
}

uint64_t px_flights_first(const struct px_flights *flights)
{
    return flights->given.first != NULL ? flights->given.first->number : 0;
}

bool px_flights_are_over(const struct px_flights *flights)
{
    return flights->given.first == NULL && flights->again.first == NULL;
}
