/* Daemons that do not come. */
#include "endpoints/run/missing.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/run/plan.h"
#include "endpoints/run/scontrol.h"
#include "overlay/base/err.h"

enum { SETTLE_MS = 1000, SHOWN_BYTES = 400 };

/* One of them; host TOPO_NONE: nobody knows which. */
struct run_missing {
    uint32_t host; /* in the run's list */
    uint32_t node; /* in the tree, where `first` is not NULL */
    bool is_told;
    bool is_task;    /* a resource manager has told it */
    bool is_vague;   /* it has ended, and that is all */
    bool is_refused; /* it was not started, and all others are killed for it */
    char *text;      /* owned: the reason, as it was said */
    char *plain;     /* owned: with HOST for the host's name, to be compared */
    /* The same of its parent in the tree where that is another, else NULL. */
    char *first, *first_plain;
};

/* The host whose name the text begins with, and ": ". */
static uint32_t leading_host(const struct run *r, const char *text, size_t *len)
{
    const char *end = strstr(text, ": ");

    if (end == NULL)
        return TOPO_NONE;
    *len = (size_t)(end - text) + 2;
    return topo_hosts_find(&r->plan.hosts, text, (size_t)(end - text));
}

static const char *name_of(const struct run *r, const struct run_missing *one)
{
    return topo_hosts_name(&r->plan.hosts, one->host);
}

/* Not '-': Slurm says "slurmstepd-h3: error: ...". */
static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The next place of a name in the text as a word of its own, or NULL; `start`
 * is where the whole text begins. */
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

/* A copy of the text with HOST in the place of a name. */
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

static void on_settled(evutil_socket_t fd, short what, void *arg);

/* Waits for others from now on. */
static void settle(struct run *r)
{
    struct timeval wait = {SETTLE_MS / 1000, SETTLE_MS % 1000 * 1000};

    if (r->launch.settle == NULL)
        r->launch.settle = evtimer_new(r->base, on_settled, r);
    if (r->launch.settle == NULL || evtimer_add(r->launch.settle, &wait) != 0)
        ep_run_abort(r, 1);
}

const char *ep_run_missing_host(const struct run *r, const char *text,
                                uint32_t *host)
{
    uint32_t found;
    size_t len;

    while ((found = leading_host(r, text, &len)) != TOPO_NONE) {
        *host = found;
        text += len;
    }
    return text;
}

static void free_one(struct run_missing *one)
{
    free(one->text);
    free(one->plain);
    free(one->first);
    free(one->first_plain);
}

/* Copies the words. False when memory is out. */
static bool fill(const struct run *r, struct run_missing *one, const char *text,
                 const char *first)
{
    const char *name = one->host == TOPO_NONE ? "" : name_of(r, one);
    uint32_t host;

    one->text = strdup(text);
    one->plain = without_name(text, name);
    if (!one->text || !one->plain)
        return false;
    if (first == NULL)
        return true;
    first = ep_run_missing_host(r, first, &host);
    one->first_plain = without_name(first, name);
    if (one->first_plain == NULL)
        return false;
    if (strcmp(one->first_plain, one->plain) != 0)
        one->first = strdup(first);
    return one->first != NULL || strcmp(one->first_plain, one->plain) == 0;
}

static struct run_missing *find(const struct run *r, uint32_t host)
{
    for (uint32_t i = 0; i < r->launch.missing_count; i++) {
        if (r->launch.missing[i].host == host)
            return &r->launch.missing[i];
    }
    return NULL;
}

static void add(struct run *r, struct run_missing *one, const char *text,
                const char *first)
{
    struct run_missing *grown = reallocarray(
        r->launch.missing, r->launch.missing_count + 1, sizeof(*grown));

    if (grown != NULL)
        r->launch.missing = grown;
    if (grown == NULL || !fill(r, one, text, first)) {
        free_one(one);
        ep_voice_say(&r->voice, "a daemon does not come: %s", text);
        ep_run_abort(r, 1);
        return;
    }
    r->launch.missing[r->launch.missing_count++] = *one;
    settle(r);
}

/* Those that are not in `left` any more. */
static void add_taken(struct run *r, const struct topo_hosts *left)
{
    for (uint32_t n = 1; n <= r->plan.nodes_count; n++) {
        struct run_missing one = {.host = ep_run_place(&r->plan, n),
                                  .is_task = true};
        const char *name = topo_hosts_name(&r->plan.hosts, one.host);

        if (topo_hosts_find(left, name, strlen(name)) == TOPO_NONE &&
            find(r, one.host) == NULL)
            add(r, &one,
                "Slurm has taken it out of this allocation (sinfo -R may "
                "tell why)",
                NULL);
    }
}

/* srun has ended as a whole, which it does where the allocation has lost a
 * node. Is that known to be so? */
static bool find_taken(struct run *r)
{
    const char *job = getenv("SLURM_JOB_ID");
    struct text_buf list = {0};
    struct topo_hosts left;

    topo_hosts_init(&left);
    if (ep_launcher_ops(r->plan.config.launcher)->is_for_all && job != NULL &&
        ep_scontrol_nodes(job, &list) == 0 &&
        topo_hosts_parse(&left, list.at, NULL) == 0)
        add_taken(r, &left);
    topo_hosts_fini(&left);
    text_buf_fini(&list);
    return r->launch.missing_count > 0;
}

static void add_node(struct run *r, struct run_missing one, const char *text,
                     const char *first)
{
    bool has_host = !ep_launcher_ops(r->plan.config.launcher)->is_here &&
                    one.node > 0 && one.node <= r->plan.nodes_count;

    one.host = has_host ? ep_run_place(&r->plan, one.node) : TOPO_NONE;
    text = ep_run_missing_host(r, text, &one.host);
    if (one.host != TOPO_NONE && find(r, one.host) != NULL)
        return; /* the first reason is the best */
    /* What starts all ends because of those that are known. */
    if (one.host == TOPO_NONE && (r->launch.missing_count > 0 || find_taken(r)))
        return;
    add(r, &one, text, first);
}

void ep_run_missing(struct run *r, uint32_t index, const char *text,
                    const char *first)
{
    size_t len = strlen(text), tail = strlen(EP_BOOT_HUNG_UP);
    bool is_vague =
        len >= tail && strcmp(text + len - tail, EP_BOOT_HUNG_UP) == 0;

    add_node(r, (struct run_missing){.node = index, .is_vague = is_vague}, text,
             first);
}

void ep_run_missing_ended(struct run *r, uint32_t index, const char *text)
{
    add_node(r, (struct run_missing){.node = index, .is_vague = true}, text,
             NULL);
}

void ep_run_missing_task(struct run *r, const char *host, enum ep_srun_end end,
                         const char *text)
{
    struct run_missing one = {.is_task = true,
                              .is_vague = end == EP_SRUN_ENDED,
                              .is_refused = end == EP_SRUN_REFUSED};
    struct run_missing *old;

    one.host = topo_hosts_find(&r->plan.hosts, host, strlen(host));
    if (one.host == TOPO_NONE)
        return;
    old = find(r, one.host);
    if (old == NULL) {
        add(r, &one, text, NULL);
    } else if ((old->is_task || old->is_vague || one.is_refused) &&
               fill(r, &one, text, NULL)) {
        free_one(old);
        *old = one;
    } else {
        free_one(&one);
    }
}

/* --- the end of it
 * */

static bool is_alike(const struct run_missing *a, const struct run_missing *b)
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

static void say_group(struct run *r, const struct run_missing *lead,
                      const struct topo_hosts *hosts,
                      const struct topo_hosts *parents)
{
    char *list = topo_hosts_fold_short(hosts, SHOWN_BYTES);
    char *above = topo_hosts_fold_short(parents, SHOWN_BYTES);
    struct text_buf first = {0};

    if (lead->first != NULL)
        text_buf_printf(&first, "; before, from %s: %s",
                        above == NULL ? "its parent" : above,
                        hosts->count == 1 ? lead->first : lead->first_plain);
    if (hosts->count == 1)
        ep_voice_say(&r->voice, "a daemon does not come: %s: %s%s",
                     name_of(r, lead), lead->text,
                     first.len_bytes > 0 ? first.at : "");
    else
        ep_voice_say(&r->voice, "%u daemons do not come: %s: %s%s",
                     hosts->count, list == NULL ? "" : list, lead->plain,
                     first.len_bytes > 0 ? first.at : "");
    text_buf_fini(&first);
    free(list);
    free(above);
}

/* What was to start all daemons has ended; or it is not known whose it is. */
static void say_all(struct run *r, const char *text)
{
    struct topo_hosts hosts;
    char *list = NULL;

    topo_hosts_init(&hosts);
    for (uint32_t n = 1; n <= r->plan.nodes_count; n++)
        add_name(&hosts, ep_run_host(&r->plan, n));
    if (ep_launcher_ops(r->plan.config.launcher)->is_for_all)
        list = topo_hosts_fold_short(&hosts, SHOWN_BYTES);
    if (list == NULL || hosts.count == 1)
        ep_voice_say(&r->voice, "a daemon does not come: %s%s%s",
                     list == NULL ? "" : list, list == NULL ? "" : ": ", text);
    else
        ep_voice_say(&r->voice, "%u daemons do not come: %s: %s", hosts.count,
                     list, text);
    free(list);
    topo_hosts_fini(&hosts);
}

/* Tells one group: all that are missing for the reasons of number `first`. */
static void tell_group(struct run *r, uint32_t first)
{
    const struct run_missing *lead = &r->launch.missing[first];
    struct topo_hosts hosts, parents;

    if (lead->host == TOPO_NONE) {
        say_all(r, lead->text);
        return;
    }
    topo_hosts_init(&hosts);
    topo_hosts_init(&parents);
    for (uint32_t i = first; i < r->launch.missing_count; i++) {
        struct run_missing *one = &r->launch.missing[i];

        if (!is_alike(one, lead))
            continue;
        one->is_told = true;
        add_name(&hosts, name_of(r, one));
        if (one->first != NULL)
            add_name(
                &parents,
                ep_run_host(&r->plan,
                            topo_tree_parent(&r->plan.config.tree, one->node)));
    }
    say_group(r, lead, &hosts, &parents);
    topo_hosts_fini(&hosts);
    topo_hosts_fini(&parents);
}

bool ep_run_missing_is_told(const struct run *r)
{
    for (uint32_t i = 0; i < r->launch.missing_count; i++) {
        if (r->launch.missing[i].is_task)
            return true;
    }
    return false;
}

/* Forgets who has ended because of others. */
static void drop_vague(struct run *r)
{
    uint32_t kept = 0, vague = 0;
    bool is_refused = false;

    for (uint32_t i = 0; i < r->launch.missing_count; i++) {
        vague += r->launch.missing[i].is_vague;
        is_refused = is_refused || r->launch.missing[i].is_refused;
    }
    if (vague == r->launch.missing_count)
        return;
    for (uint32_t i = 0; i < r->launch.missing_count; i++) {
        struct run_missing *one = &r->launch.missing[i];

        if (one->is_vague || (is_refused && !one->is_task))
            free_one(one);
        else
            r->launch.missing[kept++] = *one;
    }
    r->launch.missing_count = kept;
}

static int by_host(const void *a, const void *b)
{
    const struct run_missing *x = a, *y = b;

    return (x->host > y->host) - (x->host < y->host);
}

/* Hosts of the run that can be used without those that are missing; 0 when it
 * is not known who they are. */
static uint32_t hosts_left(const struct run *r)
{
    for (uint32_t i = 0; i < r->launch.missing_count; i++) {
        if (r->launch.missing[i].host == TOPO_NONE)
            return 0;
    }
    return r->plan.hosts.count - r->launch.missing_count;
}

/* The next launch goes without those that are missing. */
static void leave_out(struct run *r)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < r->launch.missing_count; i++)
        rc = ep_run_again_without(r->plan.again,
                                  name_of(r, &r->launch.missing[i]));
    r->plan.again->is_due = rc == 0;
}

static void on_settled(evutil_socket_t fd, short what, void *arg)
{
    struct run *r = arg;
    uint32_t least = r->options.min_nodes, left;

    (void)fd;
    (void)what;
    if (r->phase != RUN_LAUNCHING || r->end.is_aborted)
        return;
    drop_vague(r);
    left = hosts_left(r);
    qsort(r->launch.missing, r->launch.missing_count,
          sizeof(*r->launch.missing), by_host);
    for (uint32_t i = 0; i < r->launch.missing_count; i++) {
        if (!r->launch.missing[i].is_told)
            tell_group(r, i);
    }
    if (least > 0 && left >= least)
        leave_out(r);
    if (r->plan.again->is_due)
        ep_voice_say(&r->voice,
                     "the job is started anew without, from %u host%s", left,
                     left == 1 ? "" : "s");
    else if (least > 0 && left > 0)
        ep_voice_say(&r->voice, "%u host%s left, --min-nodes asks for %u", left,
                     left == 1 ? " is" : "s are", least);
    ep_run_abort(r, 1);
}

void ep_run_missing_close(struct run *r)
{
    for (uint32_t i = 0; i < r->launch.missing_count; i++)
        free_one(&r->launch.missing[i]);
    free(r->launch.missing);
    r->launch.missing = NULL;
    r->launch.missing_count = 0;
}
