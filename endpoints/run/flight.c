/* Counts bytes that are on their way. */
#include "endpoints/run/flight.h"

#include <stdlib.h>

#include "overlay/base/err.h"

int ep_run_flight_open(struct run_flight *flight, uint32_t window)
{
    *flight = (struct run_flight){.frames_max = window + 1};
    flight->sent = calloc(flight->frames_max, sizeof(*flight->sent));
    return flight->sent != NULL ? 0 : OV_ENOMEM;
}

void ep_run_flight_close(struct run_flight *flight)
{
    free(flight->sent);
    flight->sent = NULL;
}

void ep_run_flight_add(struct run_flight *flight, uint32_t len_bytes)
{
    flight->sent[flight->frames++ % flight->frames_max] = flight->bytes;
    flight->bytes += len_bytes;
}

uint64_t ep_run_flight_bytes(const struct run_flight *flight, uint64_t base)
{
    if (base >= flight->frames)
        return 0;
    if (flight->frames - base > flight->frames_max)
        base = flight->frames - flight->frames_max;
    return flight->bytes - flight->sent[base % flight->frames_max];
}
