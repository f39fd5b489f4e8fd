/* Asks what processes that still run are doing, and tells the user. */
#include "endpoints/run/rest.h"

#include <stdlib.h>

#include <event2/event.h>

#include "endpoints/run/groups.h"
#include "endpoints/run/look.h"
#include "endpoints/run/plan.h"
#include "endpoints/sys/clock.h"
#include "job/session.h"
#include "overlay/base/err.h"

struct run_rest {
    struct run_rest_cfg cfg;
    struct event *answer; /* owned: fires when nodes have answered or had time
                           * to */
    struct run_rest_words words; /* rest NULL: no message is due */
};

/* Writes nothing once the session is ending, because the messages at the end
 * say more. */
static void on_answer(evutil_socket_t fd, short what, void *arg)
{
    struct run_rest *rest = arg;
    const struct run_rest_cfg *cfg = &rest->cfg;
    const struct run_rest_words words = rest->words;

    (void)fd;
    (void)what;
    evtimer_del(rest->answer);
    rest->words = (struct run_rest_words){.rest = NULL};
    if (words.rest != NULL && job_session_goes_on(cfg->session) &&
        !ep_run_groups_rest(cfg->plan, cfg->life, cfg->look->doing,
                            cfg->plan->voice, words.rest) &&
        words.none != NULL)
        ep_voice_say(cfg->plan->voice, "%s", words.none);
    if (words.then != NULL)
        words.then(words.arg);
}

int ep_run_rest_open(const struct run_rest_cfg *cfg, struct run_rest **out)
{
    struct run_rest *rest = calloc(1, sizeof(*rest));

    *out = rest;
    if (rest == NULL)
        return OV_ENOMEM;
    rest->cfg = *cfg;
    rest->answer = evtimer_new(cfg->base, on_answer, rest);
    return rest->answer == NULL ? OV_ENOMEM : 0;
}

void ep_run_rest_close(struct run_rest *rest)
{
    if (rest != NULL && rest->answer != NULL)
        event_free(rest->answer);
    free(rest);
}

void ep_run_rest_tell(struct run_rest *rest, struct run_orders *orders,
                      const struct run_rest_words *words)
{
    static const struct timeval limit = {RUN_LOOK_MS / 1000,
                                         RUN_LOOK_MS % 1000 * 1000};
    const struct run_rest_words before = rest->words;
    const uint64_t now_ns = ep_clock_ns();

    rest->words = *words;
    if (words->then == NULL) {
        rest->words.then = before.then;
        rest->words.arg = before.arg;
    }
    ep_run_look_ask(rest->cfg.look, rest->cfg.life, orders, now_ns);
    evtimer_add(rest->answer, &limit);
    if (ep_run_look_is_over(rest->cfg.look, now_ns))
        ep_run_rest_heard(rest);
}

void ep_run_rest_heard(struct run_rest *rest)
{
    if (rest->words.rest != NULL)
        event_active(rest->answer, 0, 0);
}
