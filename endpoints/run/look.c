/* Asks nodes what their processes are doing. */
#include "endpoints/run/look.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/run/orders.h"
#include "job/life.h"
#include "job/order.h"
#include "job/word.h"

static const uint64_t look_ns = RUN_LOOK_MS * UINT64_C(1000000);

void ep_run_look_fini(struct run_look *look)
{
    free(look->doing);
    look->doing = NULL;
}

static uint32_t count_running(const struct job_life *life)
{
    uint32_t count = 0;

    for (uint32_t rank = 0; rank < life->job->size; rank++)
        count += life->processes[rank] == JOB_PROCESS_TOLD;
    return count;
}

void ep_run_look_ask(struct run_look *look, const struct job_life *life,
                     struct run_orders *orders, uint64_t now_ns)
{
    struct job_order order = {
        .kind = JOB_CONTROL_LOOK,
        .ranges = {{life->job->base, life->job->base + life->job->size - 1}},
        .ranges_count = 1};

    if (look->asked_ns != 0 && now_ns - look->asked_ns < look_ns)
        return;
    if (look->doing == NULL)
        look->doing = malloc((size_t)life->job->size + 1);
    if (look->doing == NULL)
        return;
    memset(look->doing, JOB_DOING_UNKNOWN, life->job->size);
    look->asked_ns = now_ns;
    look->left = count_running(life);
    if (++look->ticket == 0)
        look->ticket = 1;
    order.ticket = look->ticket;
    ep_run_orders_give(orders, &order);
}

static void set_range(struct run_look *look, const struct job_life *life,
                      struct topo_range range, uint8_t doing)
{
    const uint32_t base = life->job->base, size = life->job->size;

    for (uint32_t number = range.first; number <= range.last; number++) {
        if (number < base || number - base >= size)
            return;
        if (look->doing[number - base] == JOB_DOING_UNKNOWN && look->left > 0)
            look->left--;
        look->doing[number - base] = doing;
    }
}

bool ep_run_look_hear(struct run_look *look, const struct job_life *life,
                      const struct job_word *word)
{
    const uint32_t before = look->left;

    if (look->doing == NULL || word->ticket != look->ticket)
        return false;
    for (uint32_t i = 0; i < word->ranges_count; i++)
        set_range(look, life, word->ranges[i], word->doing);
    return before > 0 && look->left == 0;
}

bool ep_run_look_is_over(const struct run_look *look, uint64_t now_ns)
{
    return look->left == 0 || now_ns - look->asked_ns >= look_ns;
}
