/* A helper has died or could not be started: what is said, and when the next
 * one comes. */
#include "pmix_api/host_impl.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum {
    STARTS_MAX = 8,   /* helpers of one job */
    TRIES_MAX = 3,    /* of a dvm that no tool could connect to yet */
    BACKOFF_MS = 100, /* doubled each time */
    BACKOFF_MAX_MS = 10000,
    TEXT_BYTES = 3 * PX_PATH_MAX,
};

void px_revival_explain(const struct px_host *host, int status, char *out,
                        size_t size)
{
    const char *colon = host->reason[0] != '\0' ? ": " : "";

    if (WIFSIGNALED(status))
        snprintf(out, size, "was ended by signal %d", WTERMSIG(status));
    else
        snprintf(out, size, "ended with code %d%s%s", WEXITSTATUS(status),
                 colon, host->reason);
}

static void arm(struct px_host *host)
{
    unsigned wait_ms = BACKOFF_MAX_MS;

    if (host->starts < STARTS_MAX &&
        BACKOFF_MS << host->starts < BACKOFF_MAX_MS)
        wait_ms = (unsigned)BACKOFF_MS << host->starts;
    px_queue_arm(host, wait_ms);
}

static void give_up(struct px_host *host, const char *cause)
{
    char text[TEXT_BYTES];

    snprintf(text, sizeof(text),
             "the PMIx helper %s: a dvm is of no use without it (%s, which "
             "keeps its files below %s: TMPDIR names another place)",
             cause, host->cfg.path, px_folder_top());
    host->cfg.events->on_given_up(host->cfg.arg, text);
}

/* The user hears it once; of a dvm whose tools are cut off already, once until
 * they can come again. */
static void say(struct px_host *host, bool *is_told, const char *text)
{
    if (*is_told)
        host->cfg.events->on_note(host->cfg.arg, text);
    else
        host->cfg.events->on_say(host->cfg.arg, text);
    *is_told = true;
}

/* Nothing of it is worth a word to the user of a plain run. */
static void say_failed(struct px_host *host, const char *cause)
{
    bool is_told = !host->cfg.is_dvm || !host->was_up || host->is_failed;
    char text[TEXT_BYTES];

    snprintf(text, sizeof(text), "the PMIx helper %s: tools cannot connect",
             cause);
    say(host, &is_told, text);
    host->is_failed = true;
}

static void say_cut(struct px_host *host, const char *cause)
{
    char text[TEXT_BYTES];

    snprintf(text, sizeof(text),
             "the PMIx helper %s: tools are cut off and may connect again, "
             "the %s goes on",
             cause, host->cfg.is_dvm ? "tree" : "job");
    say(host, &host->is_told, text);
}

void px_revival_plan(struct px_host *host, const char *cause)
{
    bool had_tools = host->is_up;

    host->is_up = false;
    if (had_tools)
        host->cfg.events->on_up(host->cfg.arg, NULL);
    if (host->cfg.is_dvm && !host->was_up && host->starts >= TRIES_MAX) {
        give_up(host, cause);
        return;
    }
    if (had_tools)
        say_cut(host, cause);
    else
        say_failed(host, cause);
    /* A dvm is of no use without it. */
    if (host->starts < STARTS_MAX || host->cfg.is_dvm)
        arm(host);
    else
        host->cfg.events->on_note(host->cfg.arg, "it is not started again");
}

void px_revival_say_lost(struct px_host *host, uint64_t bytes,
                         const char *which)
{
    char text[TEXT_BYTES];

    if (bytes == 0)
        return;
    snprintf(text, sizeof(text),
             "up to %llu bytes %s were with the PMIx helper: they are lost",
             (unsigned long long)bytes, which);
    host->cfg.events->on_say(host->cfg.arg, text);
}
