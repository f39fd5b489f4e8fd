/* Calls of tools that wait for their turn. */
#include "pmix_api/helper/calls.h"

#include <stddef.h>
#include <string.h>

void px_calls_init(struct px_calls *calls)
{
    *calls = (struct px_calls){.first = NULL};
    calls->last = &calls->first;
    calls->aside_last = &calls->aside;
}

void px_calls_add(struct px_calls *calls, struct px_call *call)
{
    call->next = NULL;
    *calls->last = call;
    calls->last = &call->next;
}

static struct px_call *take_first(struct px_calls *calls)
{
    struct px_call *call = calls->first;

    calls->first = call->next;
    if (calls->first == NULL)
        calls->last = &calls->first;
    call->next = NULL;
    return call;
}

static void put_aside(struct px_calls *calls, struct px_call *call)
{
    *calls->aside_last = call;
    calls->aside_last = &call->next;
    calls->wide_aside[call->tool] += call->is_wide;
}

struct px_call *px_calls_next(struct px_calls *calls,
                              bool (*has_to_wait)(const struct px_call *call))
{
    while (calls->first != NULL) {
        struct px_call *call = take_first(calls);

        if (calls->wide_aside[call->tool] == 0 && !has_to_wait(call))
            return call;
        put_aside(calls, call);
    }
    return NULL;
}

void px_calls_suspend(struct px_calls *calls, struct px_call *call)
{
    call->next = calls->aside;
    if (calls->aside == NULL)
        calls->aside_last = &call->next;
    calls->aside = call;
    calls->wide_aside[call->tool] += call->is_wide;
}

void px_calls_put_back(struct px_calls *calls)
{
    if (calls->aside == NULL)
        return;
    *calls->aside_last = calls->first;
    if (calls->first == NULL)
        calls->last = calls->aside_last;
    calls->first = calls->aside;
    calls->aside = NULL;
    calls->aside_last = &calls->aside;
    memset(calls->wide_aside, 0, sizeof(calls->wide_aside));
}
