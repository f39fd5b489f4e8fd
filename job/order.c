/* The tables of rows that describe the bodies of orders on stream 0. */
#include "job/order.h"

#include <string.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"

#define UINT(member, label) JOB_SCHEMA_UINT(struct job_order, member, label)
#define RANGES(least)                                                          \
    JOB_SCHEMA_LIST(struct job_order, ranges, ranges_count, least, range_rows)

static const struct job_schema_row range_rows[] = {
    JOB_SCHEMA_UINT(struct topo_range, first, "first"),
    JOB_SCHEMA_UINT(struct topo_range, last, "last"),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row replay_flags[] = {
    JOB_SCHEMA_FLAG(struct job_order, is_last, 1),
    {.kind = JOB_ROW_END},
};

static const struct job_schema_row want_flags[] = {
    JOB_SCHEMA_FLAG(struct job_order, is_wanted, 1),
    JOB_SCHEMA_FLAG(struct job_order, is_held_back, 2),
    {.kind = JOB_ROW_END},
};

/* The most rows of a kind. A kind with fewer rows leaves the others zero, which
 * is JOB_ROW_END. */
enum { ROWS_MAX = 6 };

static const struct job_schema_row orders[JOB_CONTROL_KINDS][ROWS_MAX] = {
    [JOB_CONTROL_SIGNAL] = {UINT(number, "number"), RANGES(0)},
    [JOB_CONTROL_REPLAY] = {JOB_SCHEMA_RANGE(struct job_order, ticket, "ticket",
                                             1, UINT16_MAX),
                            UINT(channels, "channels"),
                            JOB_SCHEMA_FLAGS(1, replay_flags),
                            UINT(bytes, "bytes"), RANGES(1)},
    [JOB_CONTROL_WANT] = {UINT(channels, "channels"),
                          JOB_SCHEMA_FLAGS(1, want_flags), RANGES(1)},
    [JOB_CONTROL_FORGET] = {UINT(number, "number")},
    [JOB_CONTROL_MACHINE] = {RANGES(1)},
    [JOB_CONTROL_CLOCK] = {UINT(time_ns, "ns")},
    [JOB_CONTROL_LOOK] = {JOB_SCHEMA_RANGE(struct job_order, ticket, "ticket",
                                           1, UINT16_MAX),
                          RANGES(1)},
};

const struct job_schema_row *job_order_rows(unsigned kind)
{
    OV_ASSERT(kind < JOB_CONTROL_KINDS);
    return orders[kind];
}

void job_order_encode(struct ov_wr *wr, const struct job_order *order)
{
    job_schema_encode(job_order_rows(order->kind), order, wr);
}

int job_order_decode(uint8_t kind, struct ov_rd body, struct job_order *order)
{
    memset(order, 0, sizeof(*order));
    order->kind = kind;
    if (kind <= JOB_CONTROL_JOB || kind >= JOB_CONTROL_KINDS)
        return OV_EPROTO;
    if (job_schema_decode(orders[kind], body, order))
        return OV_EPROTO;
    return order->is_held_back && !order->is_wanted ? OV_EPROTO : 0;
}

bool job_order_has(const struct job_order *order, uint32_t number)
{
    for (uint32_t i = 0; i < order->ranges_count; i++) {
        if (number >= order->ranges[i].first && number <= order->ranges[i].last)
            return true;
    }
    return false;
}
