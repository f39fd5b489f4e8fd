/* Tells the nodes which output of further jobs they have to send and which to
 * drop. */
#include "endpoints/run/subscription.h"

#include "endpoints/client/viewers.h"
#include "endpoints/run/impl.h"
#include "endpoints/run/orders.h"
#include "job/order.h"
#include "job/subscription.h"

/* Adds to an order the processes whose channel is to be sent from now on, or no
 * longer. Returns how many there are. */
static uint32_t turn_channel(struct run_job *job, uint8_t channel,
                             bool is_to_send)
{
    struct job_order order = {.kind = JOB_CONTROL_WANT,
                              .channels = (uint8_t)(1u << channel),
                              .is_wanted = is_to_send};
    struct run *r = job->run;
    uint32_t count = 0;

    for (uint32_t rank = 0; rank < job->desc.size; rank++) {
        uint32_t number = job->desc.base + rank;

        if (!job_subscription_turn(
                job->subscription, rank, channel,
                ep_viewers_wants(r->clients.viewers, number, channel),
                is_to_send))
            continue;
        ep_run_orders_add(r->orders, &order, number);
        count++;
    }
    ep_run_orders_rest(r->orders, &order);
    return count;
}

static bool turn_all(struct run_job *job, bool is_to_send)
{
    const uint32_t first = job->desc.base, last = first + job->desc.size - 1;
    uint32_t count = 0;

    for (uint8_t channel = OV_CHANNEL_STDOUT; channel < OV_CHANNELS;
         channel++) {
        if ((job_channels(&job->desc) & 1u << channel) != 0)
            count += turn_channel(job, channel, is_to_send);
    }
    if (count > 0)
        ep_voice_note(
            &job->run->voice, "%s %u channels of processes %u to %u%s",
            is_to_send ? "a client reads" : "nobody reads", count, first, last,
            is_to_send
                ? ""
                : ": their output is dropped on the nodes where they run");
    return count > 0;
}

void ep_run_subscription_record(struct run_job *job, uint32_t rank,
                                uint8_t channel, uint32_t len_bytes)
{
    if (!ep_viewers_wants(job->run->clients.viewers, job->desc.base + rank,
                          channel) &&
        job_subscription_unwanted(job->subscription, rank, channel, len_bytes))
        (void)turn_all(job, false);
}

bool ep_run_subscription_wanted(struct run_job *job)
{
    return turn_all(job, true);
}

void ep_run_subscription_hold(struct run *r, const struct topo_range *range,
                              bool is_held)
{
    const struct job_order order = {
        .kind = JOB_CONTROL_WANT,
        .channels = (1u << OV_CHANNELS) - (1u << OV_CHANNEL_STDOUT),
        .is_wanted = true,
        .is_held_back = is_held,
        .ranges = {*range},
        .ranges_count = 1,
    };

    ep_run_orders_give(r->orders, &order);
    ep_voice_note(&r->voice, "processes %u to %u %s", range->first, range->last,
                  is_held ? "are held back: nobody takes what they write"
                          : "go on: their output is read again");
}
