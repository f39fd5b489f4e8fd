/* Answers to DESCRIBE: the processes of a job, for a client that watches. */
#include <stdio.h>

#include "endpoints/client/seen.h"
#include "endpoints/client/watcher_impl.h"

enum {
    /* how many bytes may wait in the outbox before the next message is added */
    AHEAD_BYTES = 64 * 1024,
    /* How many numbers fit into a message. */
    NUMBERS = JOB_DOOR_REST_MAX / JOB_DOOR_NUMBER_BYTES,
};

static void go_to(struct ep_watcher_description *asked, uint8_t what)
{
    asked->what = what;
    asked->at = 0;
}

static void say_place(struct ep_watcher *watcher)
{
    struct ep_watcher_description *asked = &watcher->asked;
    const struct ep_seen_job *job = asked->job;
    const struct job_neighbours *part = &job->places[asked->at];
    struct job_door msg = {.kind = JOB_DOOR_PLACE,
                           .parts = part->app,
                           .first = job->base + part->first_rank,
                           .count = part->ranks,
                           .host = part->host};

    snprintf(msg.text, sizeof(msg.text), "%s", part->program);
    ep_watcher_say(watcher, &msg);
    if (++asked->at >= job->parts)
        go_to(asked, job->is_daemons ? JOB_DOOR_EXITS : JOB_DOOR_PIDS);
}

static void say_numbers(struct ep_watcher *watcher, const uint8_t *numbers)
{
    struct ep_watcher_description *asked = &watcher->asked;
    const struct ep_seen_job *job = asked->job;
    const uint32_t left = job->size - asked->at;
    const uint32_t count = left < NUMBERS ? left : NUMBERS;
    const struct job_door msg = {
        .kind = asked->what,
        .first = job->base + asked->at,
        .rest = ov_rd_init(numbers + (size_t)asked->at * JOB_DOOR_NUMBER_BYTES,
                           (size_t)count * JOB_DOOR_NUMBER_BYTES)};

    ep_watcher_say(watcher, &msg);
    asked->at += count;
    if (asked->at == job->size)
        go_to(asked, asked->what == JOB_DOOR_PIDS ? JOB_DOOR_EXITS
                                                  : JOB_DOOR_DESCRIBED);
}

static void say_end(struct ep_watcher *watcher, bool is_over)
{
    const struct ep_seen_job *job = watcher->asked.job;
    struct job_door msg = {.kind = JOB_DOOR_DESCRIBED, .is_over = is_over};

    if (!is_over)
        snprintf(msg.text, sizeof(msg.text), "%s", job->words.command);
    watcher->asked.job = NULL;
    ep_watcher_say(watcher, &msg);
}

void ep_watcher_describe_on(struct ep_watcher *watcher)
{
    const struct ep_watcher_description *asked = &watcher->asked;

    while (asked->job != NULL && !watcher->is_full &&
           ep_outbox_bytes(watcher->box) < AHEAD_BYTES) {
        if (asked->what == JOB_DOOR_PLACE)
            say_place(watcher);
        else if (asked->what == JOB_DOOR_PIDS)
            say_numbers(watcher, asked->job->pids);
        else if (asked->what == JOB_DOOR_EXITS)
            say_numbers(watcher, asked->job->statuses);
        else
            say_end(watcher, false);
    }
}

void ep_watcher_describe_end(struct ep_watcher *watcher,
                             const struct ep_seen_job *job)
{
    if (watcher->asked.job == job)
        say_end(watcher, true);
}

const char *ep_watcher_describe(struct ep_watcher *watcher,
                                const struct job_door *msg)
{
    struct ep_watcher_description *asked = &watcher->asked;
    struct ep_seen_job *job = ep_seen_of(watcher->all->cfg.seen, msg->base);

    if (asked->job != NULL)
        return "a client that watches must wait for DESCRIBED before it "
               "sends DESCRIBE again";
    if (job == NULL || job->base != msg->base || !job->is_known) {
        say_end(watcher, true);
        return NULL;
    }
    asked->job = job;
    go_to(asked, JOB_DOOR_PLACE);
    ep_watcher_describe_on(watcher);
    return NULL;
}
