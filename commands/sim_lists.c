/* Reading lists. */
#include "commands/sim_lists.h"

#include <stdlib.h>
#include <string.h>

#include "commands/sim_values.h"

/* --- faults and readers */

static struct sim_fault *add_fault(struct sim_options *o)
{
    struct sim_fault *fault;

    if (o->cfg.faults_count == SIM_FAULTS_MAX)
        sim_usage("there can be %d faults", SIM_FAULTS_MAX);
    o->faults =
        reallocarray(o->faults, o->cfg.faults_count + 1, sizeof(*o->faults));
    if (o->faults == NULL)
        sim_usage("there is no memory for a fault");
    fault = &o->faults[o->cfg.faults_count++];
    *fault = (struct sim_fault){
        .length_ns = SIM_NEVER, .peer = TOPO_NONE, .factor = 1};
    return fault;
}

/* Cuts text at the first of `ch`; returns what follows, or NULL. */
static char *cut(char *text, char ch)
{
    char *at = strchr(text, ch);

    if (at == NULL)
        return NULL;
    *at = '\0';
    return at + 1;
}

void sim_list_slow_node(const char *text, struct sim_options *o)
{
    char *node = strdup(text), *factor = cut(node, ':');
    struct sim_fault *fault = add_fault(o);

    if (factor == NULL)
        sim_usage("--slow-node takes NODE:FACTOR as 5:10, not '%s'", text);
    fault->kind = SIM_FAULT_SLOW;
    fault->node = (uint32_t)sim_number("--slow-node", node, 1, UINT32_MAX - 1);
    fault->factor =
        (uint32_t)sim_number("--slow-node", factor, 1, SIM_SLOW_MAX);
    free(node);
}

void sim_list_fail(const char *text, struct sim_options *o)
{
    char *kind = strdup(text), *time = cut(kind, '@');
    char *node = time == NULL ? NULL : cut(time, ':');
    char *length = time == NULL ? NULL : cut(time, '+'), *above;
    struct sim_fault *fault = add_fault(o);

    if (node == NULL)
        sim_usage("--fail takes KIND@TIME:NODE as kill@5ms:3, not '%s'", text);
    fault->kind = SIM_FAULT_KINDS;
    for (unsigned i = 0; i < SIM_FAULT_KINDS; i++) {
        if (i != SIM_FAULT_SLOW &&
            strcmp(kind, sim_fault_name((enum sim_fault_kind)i)) == 0)
            fault->kind = (uint8_t)i;
    }
    if (fault->kind == SIM_FAULT_KINDS)
        sim_usage("--fail knows kill, reset, cut, deaf, mute, silence, freeze, "
                  "refuse, reject, reject-in and reject-out, not '%s'",
                  kind);
    fault->at_ns = sim_time("--fail", time);
    if (length != NULL)
        fault->length_ns = sim_time("--fail", length);
    above = cut(node, '-');
    if (above != NULL) {
        if (!sim_fault_is_between((enum sim_fault_kind)fault->kind))
            sim_usage("--fail takes NODE-ABOVE for cut, deaf, mute and reject, "
                      "not for %s",
                      kind);
        fault->peer = (uint32_t)sim_number("--fail", above, 0, UINT32_MAX - 1);
    }
    fault->node = (uint32_t)sim_number("--fail", node, 1, UINT32_MAX - 1);
    free(kind);
}

void sim_list_console_stuck(const char *text, struct sim_job *job)
{
    char *time = strdup(text), *length = cut(time, '+');

    job->console_stuck_ns = sim_time("--console-stuck", time);
    if (length != NULL)
        job->console_length_ns = sim_time("--console-stuck", length);
    free(time);
}

static void reader(char *text, struct sim_options *o)
{
    char *how = cut(text, ':');
    struct sim_reader *r;

    if (how == NULL)
        sim_usage("--readers takes RANK:HOW as 5:never or 5:10MB, not '%s'",
                  text);
    if (o->cfg.job.readers_count == SIM_READERS_MAX)
        sim_usage("--readers takes %d ranks at most", SIM_READERS_MAX);
    r = &o->readers[o->cfg.job.readers_count++];
    r->node = (uint32_t)sim_number("--readers", text, 0, UINT32_MAX - 2) + 1;
    if (strcmp(how, "never") == 0) {
        r->kind = SIM_READER_NEVER;
    } else if (strncmp(how, "pause@", 6) == 0) {
        char *at = how + 6, *length = cut(at, '+');

        if (length == NULL)
            sim_usage("--readers takes RANK:pause@TIME+LENGTH, not '%s'", how);
        r->kind = SIM_READER_PAUSE;
        r->at_ns = sim_time("--readers", at);
        r->length_ns = sim_time("--readers", length);
    } else if (strncmp(how, "close@", 6) == 0) {
        r->kind = SIM_READER_CLOSE;
        r->at_ns = sim_time("--readers", how + 6);
    } else {
        r->kind = SIM_READER_RATE;
        r->rate = sim_rate("--readers", how);
    }
}

static int by_node(const void *a, const void *b)
{
    const struct sim_reader *x = a, *y = b;

    return (x->node > y->node) - (x->node < y->node);
}

void sim_list_readers(const char *text, struct sim_options *o)
{
    char *list = strdup(text), *save = NULL;

    if (o->readers == NULL)
        o->readers = calloc(SIM_READERS_MAX, sizeof(*o->readers));
    if (list == NULL || o->readers == NULL)
        sim_usage("there is no memory for the readers");
    for (char *word = strtok_r(list, ",", &save); word != NULL;
         word = strtok_r(NULL, ",", &save)) {
        if (strcmp(word, "all") != 0)
            reader(word, o);
    }
    qsort(o->readers, o->cfg.job.readers_count, sizeof(*o->readers), by_node);
    free(list);
}

/* --- sweeps */

static uint64_t sweep_value(enum sim_sweep_key key, const char *text)
{
    if (key == SIM_SWEEP_NODES)
        return sim_number("--sweep nodes", text, 2, SIM_NODES_MAX);
    if (key == SIM_SWEEP_ARITY)
        return sim_number("--sweep arity", text, 1, TOPO_ARITY_MAX);
    return sim_bytes("--sweep size", text);
}

void sim_list_sweep(const char *text, struct sim_options *o)
{
    char *key = strdup(text), *list = cut(key, '='), *save = NULL;
    struct sim_sweep *s;
    unsigned k = SIM_SWEEP_NODES;

    while (list != NULL && k <= SIM_SWEEP_SIZE &&
           strcmp(key, sim_sweep_name((enum sim_sweep_key)k)) != 0)
        k++;
    if (list == NULL || k > SIM_SWEEP_SIZE)
        sim_usage("--sweep takes arity=, size= or nodes= and a list as "
                  "arity=2,4,8, not '%s'",
                  text);
    if (o->sweeps_count == SIM_SWEEPS_MAX ||
        (o->sweeps_count == 1 && o->sweeps[0].key == (enum sim_sweep_key)k))
        sim_usage("--sweep can be given twice, for two things");
    s = &o->sweeps[o->sweeps_count++];
    s->key = (enum sim_sweep_key)k;
    for (char *word = strtok_r(list, ",", &save); word != NULL;
         word = strtok_r(NULL, ",", &save)) {
        if (s->count == SIM_SWEEP_VALUES)
            sim_usage("--sweep takes %d values at most", SIM_SWEEP_VALUES);
        s->values[s->count++] = sweep_value(s->key, word);
    }
    if (s->count == 0)
        sim_usage("--sweep has no values: '%s'", text);
    free(key);
}
