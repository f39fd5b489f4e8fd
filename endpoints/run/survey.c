/* What the hosts say of their machines. */
#include "endpoints/run/survey.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/run/impl.h"
#include "endpoints/run/plan.h"
#include "overlay/base/err.h"

bool ep_run_survey_asks(const struct run *r)
{
    return r->survey.machines != NULL && r->launcher != EP_LAUNCHER_LOCAL;
}

bool ep_run_survey_word(struct run *r, uint32_t node,
                        const struct job_word *state)
{
    struct run_node *of = &r->nodes[node];

    if (of->machine.is_known || state->packages == 0)
        return false;
    of->machine = (struct ep_machine){state->packages, state->cores, true};
    return ++r->survey.come == r->nodes_count;
}

/* As far as it matters. */
static bool is_alike(const struct ep_survey *survey, const struct ep_machine *a,
                     const struct ep_machine *b)
{
    return (!survey->by_cores || a->cores == b->cores) &&
           (!survey->by_sockets || a->packages == b->packages);
}

/* Adds the hosts from `host` on that are like it and were not told of yet. */
static void put_alike(struct run *r, uint32_t host, bool *is_told,
                      struct text_buf *out)
{
    const struct ep_survey *survey = &r->survey;
    const struct ep_machine *lead = &survey->machines[host];
    struct topo_hosts list;
    char *text;

    topo_hosts_init(&list);
    for (uint32_t i = host; i < survey->count; i++) {
        const struct ep_machine *one = &survey->machines[i];
        const char *name = topo_hosts_name(&r->hosts, i);

        if (is_told[i] || !one->is_known || one->cores != lead->cores ||
            one->packages != lead->packages)
            continue;
        is_told[i] = true;
        out->bad |= topo_hosts_add(&list, name, strlen(name), 0) != 0;
    }
    text = topo_hosts_fold(&list, list.count);
    out->bad |= text == NULL;
    text_buf_printf(out, "%s%s=%u/%u", out->len_bytes > 0 ? ";" : "",
                    text == NULL ? "" : text, lead->packages, lead->cores);
    free(text);
    topo_hosts_fini(&list);
}

/* All that is known, in short. NULL when memory is out. */
static char *list_found(struct run *r)
{
    const struct ep_survey *survey = &r->survey;
    bool *is_told = calloc(survey->count, sizeof(*is_told));
    struct text_buf out = {0};
    char *copy = NULL;

    for (uint32_t i = 0; is_told != NULL && i < survey->count; i++) {
        if (survey->machines[i].is_known && !is_told[i])
            put_alike(r, i, is_told, &out);
    }
    if (is_told != NULL && !out.bad)
        copy = strdup(out.at);
    free(is_told);
    text_buf_fini(&out);
    return copy;
}

/* A host that is not what it was a moment ago would be asked for ever. */
static bool take(struct run *r, uint32_t node, bool *fits)
{
    const struct ep_machine *now = &r->nodes[node].machine;
    struct ep_machine *of = &r->survey.machines[ep_run_place(r, node)];

    if (is_alike(&r->survey, of, now)) {
        *of = *now;
        return true;
    }
    if (of->is_known) {
        ep_voice_say(&r->voice,
                     "%s has %u sockets with %u cores now, and %u with %u a "
                     "moment ago: give --ppn a number alone",
                     ep_run_host(r, node), now->packages, now->cores,
                     of->packages, of->cores);
        ep_run_abort(r, 1);
        return false;
    }
    *of = *now;
    *fits = false;
    return true;
}

bool ep_run_survey_fits(struct run *r)
{
    bool fits = !r->survey.is_blind;

    for (uint32_t node = 1; node <= r->nodes_count; node++) {
        if (!take(r, node, &fits))
            return false;
    }
    if (fits)
        return true;
    r->survey.found = list_found(r);
    if (r->survey.found == NULL)
        ep_voice_fail(&r->voice, "out of memory");
    else
        ep_voice_note(&r->voice,
                      "the hosts are other machines than was thought: the "
                      "job is started anew by what they are");
    ep_run_abort(r, 1);
    return false;
}

void ep_run_survey_close(struct run *r)
{
    free(r->survey.machines);
    free(r->survey.found);
    r->survey = (struct ep_survey){0};
}
