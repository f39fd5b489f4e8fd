/* The failures of a job, and its end. */
#include "commands/submit/ending.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "commands/attach/words.h"
#include "endpoints/run/recent.h"
#include "job/door.h"
#include "job/failure.h"
#include "overlay/base/err.h"

/* How long to wait for news of an earlier failure. */
enum { FAILURE_MS = 500 };

/* A failure that the session has called the first. */
struct first {
    uint32_t rank;
    int status;
    char words[JOB_DOOR_TEXT_MAX]; /* "" if there is nothing to be said */
};

static struct {
    const struct show_job *job;
    struct run_recent *recent; /* owned */
    struct event *timer;       /* owned: FAILURE_MS have passed */
    struct first first, told;
    bool is_told; /* `told` was said */
    bool is_over;
    struct job_failure failure;   /* of the message ENDED */
    char *lines;                  /* owned, and of the same message */
    char note[JOB_DOOR_TEXT_MAX]; /* of NOTE; "": none came */
} ending;

/* --- the first failure */

static void tell_first(void)
{
    const struct first *first = &ending.first, *told = &ending.told;

    if (first->words[0] == '\0')
        return;
    if (!ending.is_told)
        words_say("%s", first->words);
    else if (told->rank != first->rank && told->status != first->status)
        words_say("before that %s", first->words);
    ending.is_told = true;
    ending.told = *first;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
    if (!ending.is_over)
        tell_first();
}

int ending_open(struct event_base *base, const struct show_job *job)
{
    ending.job = job;
    ending.timer = evtimer_new(base, on_timer, NULL);
    return ending.timer == NULL ? OV_ENOMEM : ep_recent_open(&ending.recent);
}

void ending_close(void)
{
    if (ending.timer != NULL)
        event_free(ending.timer);
    ending.timer = NULL;
    ep_recent_close(ending.recent);
    ending.recent = NULL;
    free(ending.lines);
    ending.lines = NULL;
}

void ending_output(const struct show_output *output)
{
    ep_recent_add(ending.recent, output->rank, output->mem,
                  (uint32_t)output->len_bytes);
}

void ending_first(const struct job_door *first, uint32_t rank)
{
    static const struct timeval wait = {0, FAILURE_MS * 1000};

    ending.first.rank = rank;
    ending.first.status = first->status;
    snprintf(ending.first.words, sizeof(ending.first.words), "%s", first->text);
    ep_recent_keep(ending.recent, rank);
    if (!ending.is_told)
        evtimer_add(ending.timer, &wait);
}

/* --- the end */

void ending_over(const struct job_door *ended)
{
    const size_t len_bytes = ov_rd_left(&ended->rest);

    ending.is_over = true;
    ending.failure = (struct job_failure){.count = ended->count,
                                          .status = ended->status,
                                          .is_lost = ended->is_lost};
    free(ending.lines);
    ending.lines =
        len_bytes > 0 ? strndup((const char *)ended->rest.at, len_bytes) : NULL;
}

void ending_note(const struct job_door *note)
{
    snprintf(ending.note, sizeof(ending.note), "%s", note->text);
}

void ending_tell_note(void)
{
    if (ending.note[0] != '\0')
        words_say("%s", ending.note);
}

bool ending_is_over(void)
{
    return ending.is_over;
}

static void show_line(void *arg, const char *text)
{
    bool *has_begun = arg;
    const uint32_t rank = ending.first.rank;
    const char *host = rank < ending.job->size ? ending.job->hosts[rank] : NULL;

    if (!*has_begun)
        words_say("the last lines of rank %u on %s:", rank,
                  host != NULL ? host : "?");
    *has_begun = true;
    words_say("  %s", text);
}

static void tell_others(void)
{
    const char *at = ending.lines;

    while (at != NULL && *at != '\0') {
        const char *end = strchr(at, '\n');
        const size_t len = end != NULL ? (size_t)(end - at) : strlen(at);

        words_say("%.*s", (int)len, at);
        at += len + (end != NULL);
    }
}

int ending_tell(bool has_left)
{
    bool has_begun = false;

    if (ending.failure.is_lost)
        words_say("the job has not run to its end: a node with some of its "
                  "processes is lost (the dvm says which)");
    tell_first();
    if (ending.first.words[0] != '\0' && has_left)
        (void)ep_recent_lines(ending.recent, RUN_RECENT_SCREEN_LINES, show_line,
                              &has_begun);
    else if (ending.first.words[0] != '\0')
        (void)ep_recent_show(ending.recent, show_line, &has_begun);
    tell_others();
    return job_failure_exit(&ending.failure);
}
