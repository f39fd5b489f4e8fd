/* Daemons that do not connect. */
#include "endpoints/run/missing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/scontrol.h"
#include "overlay/base/err.h"

enum { SETTLE_MS = 1000, SHOWN_BYTES = 400 };

/* A daemon that does not connect. `host` is TOPO_NONE when it is not known
 * which daemon it is. */
struct absent {
    uint32_t host; /* the index of the daemon's host in the run's list */
    uint32_t node; /* the daemon's node; valid when `first` is set */
    bool is_told;
    bool is_task;  /* whether the resource manager has reported the daemon's end
                    */
    bool is_vague; /* whether only the daemon's end is known, and no reason */
    /* The daemon was not started, and all others are killed because of it. */
    bool is_refused;
    char *text; /* owned: the reason, as it was reported */
    /* owned: `text` with HOST for the host's name, so that reasons can be
     * compared */
    char *plain;
    /* Owned: the error of the daemon's parent in the tree, in both forms; NULL
     * when there is none, or when it is the same reason. */
    char *first, *first_plain;
};

struct run_missing {
    struct run_plan *plan;
    const struct run_missing_events *events;
    void *arg;
    struct absent *list; /* owned: the daemons */
    uint32_t count;
};

int ep_run_missing_open(struct run_plan *plan,
                        const struct run_missing_events *events, void *arg,
                        struct run_missing **out)
{
    struct run_missing *m = calloc(1, sizeof(*m));

    if (m == NULL)
        return OV_ENOMEM;
    m->plan = plan;
    m->events = events;
    m->arg = arg;
    *out = m;
    return 0;
}

/* Finds the host with whose name, followed by ": ", the text begins. Sets *len
 * to the length of both. */
static uint32_t leading_host(const struct run_plan *plan, const char *text,
                             size_t *len)
{
    const char *end = strstr(text, ": ");

    if (end == NULL)
        return TOPO_NONE;
    *len = (size_t)(end - text) + 2;
    return topo_hosts_find(&plan->hosts, text, (size_t)(end - text));
}

static const char *name_of(const struct run_missing *m,
                           const struct absent *one)
{
    return topo_hosts_name(&m->plan->hosts, one->host);
}

/* Tells whether a character belongs to a word. '-' does not, as Slurm writes
 * "slurmstepd-h3: error: ...". */
static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Finds the next place at which the name is a whole word in the text, or NULL.
 * `start` is the beginning of the whole text. */
static const char *find_name(const char *text, const char *start,
                             const char *name)
{
    size_t len = strlen(name);

    while (len > 0 && (text = strstr(text, name)) != NULL) {
        if ((text == start || !is_of_word(text[-1])) && !is_of_word(text[len]))
            return text;
        text += len;
    }
    return NULL;
}

/* Returns a copy of the text, in which HOST replaces the name. */
static char *without_name(const char *text, const char *name)
{
    const char *start = text, *found;
    struct text_buf out = {0};
    char *copy;

    while ((found = find_name(text, start, name)) != NULL) {
        text_buf_add(&out, text, (size_t)(found - text));
        text_buf_puts(&out, "HOST");
        text = found + strlen(name);
    }
    text_buf_puts(&out, text);
    copy = out.bad ? NULL : strdup(out.at);
    text_buf_fini(&out);
    return copy;
}

const char *ep_run_missing_host(const struct run_plan *plan, const char *text,
                                uint32_t *host)
{
    uint32_t found;
    size_t len;

    while ((found = leading_host(plan, text, &len)) != TOPO_NONE) {
        *host = found;
        text += len;
    }
    return text;
}

static void free_one(struct absent *one)
{
    free(one->text);
    free(one->plain);
    free(one->first);
    free(one->first_plain);
}

/* Sets the texts of a daemon to copies of these. Returns false when memory is
 * out. */
static bool fill_absent(const struct run_missing *m, struct absent *one,
                        const char *text, const char *first)
{
    const char *name = one->host == TOPO_NONE ? "" : name_of(m, one);
    uint32_t host;

    one->text = strdup(text);
    one->plain = without_name(text, name);
    if (!one->text || !one->plain)
        return false;
    if (first == NULL)
        return true;
    first = ep_run_missing_host(m->plan, first, &host);
    one->first_plain = without_name(first, name);
    if (one->first_plain == NULL)
        return false;
    if (strcmp(one->first_plain, one->plain) != 0)
        one->first = strdup(first);
    return one->first != NULL || strcmp(one->first_plain, one->plain) == 0;
}

static struct absent *find_absent(const struct run_missing *m, uint32_t host)
{
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->list[i].host == host)
            return &m->list[i];
    }
    return NULL;
}

static void add(struct run_missing *m, struct absent *one, const char *text,
                const char *first)
{
    struct absent *grown = reallocarray(m->list, m->count + 1, sizeof(*grown));

    if (grown != NULL)
        m->list = grown;
    if (grown == NULL || !fill_absent(m, one, text, first)) {
        free_one(one);
        ep_voice_say(m->plan->voice, "cannot start a daemon: %s", text);
        m->events->failed(m->arg);
        return;
    }
    m->list[m->count++] = *one;
    m->events->settle(m->arg, SETTLE_MS);
}

/* Adds the daemons whose hosts are no longer in the allocation, which `left`
 * lists. */
static void add_taken(struct run_missing *m, const struct topo_hosts *left)
{
    for (uint32_t n = 1; n <= m->plan->nodes_count; n++) {
        struct absent one = {.host = ep_run_place(m->plan, n), .is_task = true};
        const char *name = topo_hosts_name(&m->plan->hosts, one.host);

        if (topo_hosts_find(left, name, strlen(name)) == TOPO_NONE &&
            find_absent(m, one.host) == NULL)
            add(m, &one,
                "Slurm has removed it from this allocation (sinfo -R may tell "
                "why)",
                NULL);
    }
}

/* Adds the daemons of hosts that the allocation has lost. To be called when
 * srun as a whole has ended, as it does after such a loss. Returns whether any
 * daemon is known to be missing. */
static bool find_taken(struct run_missing *m)
{
    const char *job = getenv("SLURM_JOB_ID");
    struct text_buf list = {0};
    struct topo_hosts left;

    topo_hosts_init(&left);
    if (ep_launcher_ops(m->plan->launcher)->is_for_all && job != NULL &&
        ep_scontrol_nodes(job, &list) == 0 &&
        topo_hosts_parse(&left, list.at, NULL) == 0)
        add_taken(m, &left);
    topo_hosts_fini(&left);
    text_buf_fini(&list);
    return m->count > 0;
}

static void add_node(struct run_missing *m, struct absent one, const char *text,
                     const char *first)
{
    bool has_host = !ep_launcher_ops(m->plan->launcher)->is_here &&
                    one.node > 0 && one.node <= m->plan->nodes_count;

    one.host = has_host ? ep_run_place(m->plan, one.node) : TOPO_NONE;
    text = ep_run_missing_host(m->plan, text, &one.host);
    if (one.host != TOPO_NONE && find_absent(m, one.host) != NULL)
        return; /* keeps the first reason, which is the best one */
    /* srun has ended, but only because of daemons that are known to be
     * missing. */
    if (one.host == TOPO_NONE && (m->count > 0 || find_taken(m)))
        return;
    add(m, &one, text, first);
}

void ep_run_missing_add(struct run_missing *m, uint32_t index, const char *text,
                        const char *first)
{
    size_t len = strlen(text), tail = strlen(EP_BOOT_HUNG_UP);
    bool is_vague =
        len >= tail && strcmp(text + len - tail, EP_BOOT_HUNG_UP) == 0;

    add_node(m, (struct absent){.node = index, .is_vague = is_vague}, text,
             first);
}

void ep_run_missing_ended(struct run_missing *m, uint32_t index,
                          const char *text)
{
    add_node(m, (struct absent){.node = index, .is_vague = true}, text, NULL);
}

void ep_run_missing_task(struct run_missing *m, const char *host,
                         enum ep_srun_end end, const char *text)
{
    struct absent one = {.is_task = true,
                         .is_vague = end == EP_SRUN_ENDED,
                         .is_refused = end == EP_SRUN_REFUSED};
    struct absent *old;

    one.host = topo_hosts_find(&m->plan->hosts, host, strlen(host));
    if (one.host == TOPO_NONE)
        return;
    old = find_absent(m, one.host);
    if (old == NULL) {
        add(m, &one, text, NULL);
    } else if ((old->is_task || old->is_vague || one.is_refused) &&
               fill_absent(m, &one, text, NULL)) {
        free_one(old);
        *old = one;
    } else {
        free_one(&one);
    }
}

/* --- the launch ends */

static bool is_alike(const struct absent *a, const struct absent *b)
{
    return a->host != TOPO_NONE && strcmp(a->plain, b->plain) == 0 &&
           (a->first == NULL) == (b->first == NULL) &&
           (a->first == NULL || strcmp(a->first_plain, b->first_plain) == 0);
}

static void add_name(struct topo_hosts *hosts, const char *name)
{
    if (topo_hosts_find(hosts, name, strlen(name)) == TOPO_NONE)
        (void)topo_hosts_add(hosts, name, strlen(name), 0);
}

static void say_group(struct run_missing *m, const struct absent *lead,
                      const struct topo_hosts *hosts,
                      const struct topo_hosts *parents)
{
    char *list = topo_hosts_fold_short(hosts, SHOWN_BYTES);
    char *above = topo_hosts_fold_short(parents, SHOWN_BYTES);
    struct text_buf first = {0};

    if (lead->first != NULL)
        text_buf_printf(&first, "; the first attempt, from %s: %s",
                        above == NULL ? "its parent" : above,
                        hosts->count == 1 ? lead->first : lead->first_plain);
    if (hosts->count == 1)
        ep_voice_say(m->plan->voice, "cannot start the daemon on %s: %s%s",
                     name_of(m, lead), lead->text,
                     first.len_bytes > 0 ? first.at : "");
    else
        ep_voice_say(m->plan->voice, "cannot start %u daemons on %s: %s%s",
                     hosts->count, list == NULL ? "" : list, lead->plain,
                     first.len_bytes > 0 ? first.at : "");
    text_buf_fini(&first);
    free(list);
    free(above);
}

/* Reports that the program which was to start all daemons has ended, or that it
 * is not known which daemon is missing. */
static void say_all(struct run_missing *m, const char *text)
{
    struct topo_hosts hosts;
    char *list = NULL;

    topo_hosts_init(&hosts);
    for (uint32_t n = 1; n <= m->plan->nodes_count; n++)
        add_name(&hosts, ep_run_host(m->plan, n));
    if (ep_launcher_ops(m->plan->launcher)->is_for_all)
        list = topo_hosts_fold_short(&hosts, SHOWN_BYTES);
    if (list == NULL)
        ep_voice_say(m->plan->voice, "cannot start a daemon: %s", text);
    else if (hosts.count == 1)
        ep_voice_say(m->plan->voice, "cannot start the daemon on %s: %s", list,
                     text);
    else
        ep_voice_say(m->plan->voice, "cannot start %u daemons on %s: %s",
                     hosts.count, list, text);
    free(list);
    topo_hosts_fini(&hosts);
}

/* Reports a group: all daemons that are missing for the same reasons as daemon
 * `first` of the list. */
static void tell_group(struct run_missing *m, uint32_t first)
{
    const struct absent *lead = &m->list[first];
    struct topo_hosts hosts, parents;

    if (lead->host == TOPO_NONE) {
        say_all(m, lead->text);
        return;
    }
    topo_hosts_init(&hosts);
    topo_hosts_init(&parents);
    for (uint32_t i = first; i < m->count; i++) {
        struct absent *one = &m->list[i];

        if (!is_alike(one, lead))
            continue;
        one->is_told = true;
        add_name(&hosts, name_of(m, one));
        if (one->first != NULL)
            add_name(&parents, ep_run_host(m->plan, topo_tree_parent(
                                                        &m->plan->config.tree,
                                                        one->node)));
    }
    say_group(m, lead, &hosts, &parents);
    topo_hosts_fini(&hosts);
    topo_hosts_fini(&parents);
}

bool ep_run_missing_is_told(const struct run_missing *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->list[i].is_task)
            return true;
    }
    return false;
}

/* Removes the daemons that have only ended because others failed. */
static void drop_vague(struct run_missing *m)
{
    uint32_t kept = 0, vague = 0;
    bool is_refused = false;

    for (uint32_t i = 0; i < m->count; i++) {
        vague += m->list[i].is_vague;
        is_refused = is_refused || m->list[i].is_refused;
    }
    if (vague == m->count)
        return;
    for (uint32_t i = 0; i < m->count; i++) {
        struct absent *one = &m->list[i];

        if (one->is_vague || (is_refused && !one->is_task))
            free_one(one);
        else
            m->list[kept++] = *one;
    }
    m->count = kept;
}

static int by_host(const void *a, const void *b)
{
    const struct absent *x = a, *y = b;

    return (x->host > y->host) - (x->host < y->host);
}

/* Returns how many hosts of the run are not missing; 0 when it is not known
 * which are. */
static uint32_t hosts_left(const struct run_missing *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->list[i].host == TOPO_NONE)
            return 0;
    }
    return m->plan->hosts.count - m->count;
}

/* Has the next launch leave out the hosts of missing daemons. */
static void leave_out(struct run_missing *m)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->count; i++)
        rc =
            ep_run_relaunch_without(m->plan->relaunch, name_of(m, &m->list[i]));
    m->plan->relaunch->is_due = rc == 0;
}

void ep_run_missing_settled(struct run_missing *m)
{
    uint32_t least = m->plan->options->min_nodes, left;
    struct run_voice *voice = m->plan->voice;

    drop_vague(m);
    left = hosts_left(m);
    qsort(m->list, m->count, sizeof(*m->list), by_host);
    for (uint32_t i = 0; i < m->count; i++) {
        if (!m->list[i].is_told)
            tell_group(m, i);
    }
    if (least > 0 && left >= least)
        leave_out(m);
    if (m->plan->relaunch->is_due)
        ep_voice_say(voice, "starting again without them, on %u host%s", left,
                     left == 1 ? "" : "s");
    else if (least > 0 && left > 0)
        ep_voice_say(voice, "only %u host%s left, but --min-nodes asks for %u",
                     left, left == 1 ? " is" : "s are", least);
}

bool ep_run_missing_are_some(const struct run_missing *m)
{
    return m->count > 0;
}

bool ep_run_missing_has(const struct run_missing *m, uint32_t node)
{
    return find_absent(m, ep_run_place(m->plan, node)) != NULL;
}

void ep_run_missing_close(struct run_missing *m)
{
    if (m == NULL)
        return;
    for (uint32_t i = 0; i < m->count; i++)
        free_one(&m->list[i]);
    free(m->list);
    free(m);
}
