/* Counts the holders of records. */
#include "endpoints/run/records.h"

#include <stdlib.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

struct record {
    struct ov_buf *buf;
    uint32_t holders;
};

struct run_records {
    run_records_free_fn on_free;
    void *arg;
    uint32_t used;
    /* Indexed by cookie. Only those below `used` are valid. */
    struct record records[RUN_RECORDS_MAX];
};

int ep_run_records_open(run_records_free_fn on_free, void *arg,
                        struct run_records **out)
{
    struct run_records *held = malloc(sizeof(*held));

    *out = held;
    if (held == NULL)
        return OV_ENOMEM;
    held->on_free = on_free;
    held->arg = arg;
    held->used = 0; /* only the used part of the table is ever written */
    return 0;
}

void ep_run_records_close(struct run_records *held)
{
    free(held);
}

void ep_run_hold_new(struct run_records *held, uint32_t cookie,
                     struct ov_buf *buf)
{
    OV_ASSERT(cookie < RUN_RECORDS_MAX);
    while (held->used <= cookie)
        held->records[held->used++] = (struct record){0};
    OV_ASSERT(held->records[cookie].holders == 0);
    held->records[cookie] = (struct record){.buf = buf, .holders = 1};
}

void ep_run_hold(struct run_records *held, uint64_t cookie)
{
    if (cookie == RUN_NO_RECORD)
        return;
    OV_ASSERT(cookie < held->used && held->records[cookie].holders > 0);
    held->records[cookie].holders++;
}

void ep_run_let_go(struct run_records *held, uint64_t cookie)
{
    struct record *record;

    if (cookie == RUN_NO_RECORD)
        return;
    OV_ASSERT(cookie < held->used && held->records[cookie].holders > 0);
    record = &held->records[cookie];
    if (--record->holders == 0)
        held->on_free(held->arg, (uint32_t)cookie, record->buf);
}
