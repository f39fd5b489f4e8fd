/* Reads what srun prints about single tasks: labelled lines, and which tasks
 * have ended. */
#include "config.h"

#include "endpoints/boot/srun.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "text/fields.h"
#include "topo/hosts.h"

/* The callback, and the arguments for it. */
struct teller {
    const char *xylemd;
    ep_srun_fn fn;
    void *arg;
};

/* A position in a list of task numbers, such as `0-3,7`. */
struct walk {
    const char *at;
    /* the present range of numbers; next > last: it has no further number */
    uint32_t next, last;
};

/* Reads the number at *at and moves *at past it; returns -1 when there is
 * none. */
static int64_t take_number(const char **at)
{
    char *end;
    unsigned long number;

    if (!isdigit((unsigned char)**at))
        return -1;
    number = strtoul(*at, &end, 10);
    *at = end;
    return number < EP_SRUN_TASKS_MAX ? (int64_t)number : -1;
}

/* Returns the next task number; -1: there is none left. */
static int64_t walk_next(struct walk *walk)
{
    if (walk->next > walk->last) {
        int64_t first = take_number(&walk->at), last = first;

        if (first >= 0 && *walk->at == '-') {
            walk->at++;
            last = take_number(&walk->at);
        }
        if (first < 0 || last < first)
            return -1;
        if (*walk->at == ',')
            walk->at++;
        walk->next = (uint32_t)first;
        walk->last = (uint32_t)last;
    }
    return walk->next++;
}

/* Finds a task, and enlarges the table for it. Returns NULL when there is no
 * such task, or memory is out. A line can name any number; a high one must not
 * take more memory than the tasks need. */
static struct ep_srun_task *find_task(struct ep_srun *srun, int64_t task)
{
    uint32_t cap = srun->cap == 0 ? 64 : srun->cap;
    struct ep_srun_task *grown;

    if (task < 0 || task >= srun->count)
        return NULL;
    while (cap <= task)
        cap *= 2;
    if (cap > srun->cap) {
        grown = reallocarray(srun->tasks, cap, sizeof(*grown));
        if (grown == NULL)
            return NULL;
        memset(grown + srun->cap, 0, (cap - srun->cap) * sizeof(*grown));
        srun->tasks = grown;
        srun->cap = cap;
    }
    return &srun->tasks[task];
}

static void keep_text(char **slot, const char *text)
{
    free(*slot);
    *slot = strndup(text, EP_SRUN_WORDS_MAX - 1);
}

/* Returns the last line of a task, if it tells why the task has ended. */
static const char *own_words(const struct ep_srun_task *task,
                             const char *reason)
{
    static const char exited[] = "Exited with";

    return task != NULL && strncmp(reason, exited, strlen(exited)) == 0
               ? task->words
               : NULL;
}

/* Calls the callback for one host. words NULL: its task has printed nothing. */
static void tell_host(const struct teller *to, const char *host,
                      enum ep_srun_end end, const char *reason,
                      const char *words)
{
    struct text_buf text = {0};

    text_buf_puts(&text, "xylemd was not started (srun: ");
    text_buf_quote(&text, reason, strlen(reason), EP_SRUN_WORDS_MAX);
    text_buf_puts(&text, ")");
    if (words != NULL) {
        text_buf_puts(&text, "; its stderr: ");
        text_buf_quote(&text, words, strlen(words), EP_SRUN_WORDS_MAX);
    }
    if (words != NULL && strstr(words, "execve") != NULL)
        text_buf_printf(&text,
                        " (is xylem installed there as %s? --xylemd names the "
                        "daemon)",
                        to->xylemd);
    if (end == EP_SRUN_REFUSED)
        text_buf_puts(&text, " (are slurmd and munged up on that host? see "
                             "sinfo and the log of its slurmd)");
    to->fn(to->arg, host, end, text.bad ? "xylemd was not started" : text.at);
    text_buf_fini(&text);
}

static void on_end(const struct teller *to, const struct ep_srun_task *task,
                   const char *host, const char *reason)
{
    const char *words = own_words(task, reason);

    tell_host(to, host, words == NULL ? EP_SRUN_ENDED : EP_SRUN_FAILED, reason,
              words);
}

/* Reads `HOSTS: task(s) LIST: REASON`, where each host has one task, in the
 * same order. */
static void on_ends(struct ep_srun *srun, const char *line,
                    const struct teller *to)
{
    const char *mark = strstr(line, ": task"), *reason;
    struct topo_hosts hosts;
    struct walk walk = {.next = 1};
    char *list;

    if (mark == NULL)
        return;
    walk.at = mark + strlen(": task");
    walk.at += *walk.at == 's';
    walk.at += *walk.at == ' ';
    reason = strstr(walk.at, ": ");
    list = strndup(line, (size_t)(mark - line));
    topo_hosts_init(&hosts);
    if (reason != NULL && list != NULL &&
        topo_hosts_parse(&hosts, list, NULL) == 0) {
        for (uint32_t i = 0; i < hosts.count; i++) {
            struct ep_srun_task *task = find_task(srun, walk_next(&walk));
            const char *host = topo_hosts_name(&hosts, i);

            on_end(to, task, host, reason + 2);
            if (task != NULL) {
                keep_text(&task->host, host);
                keep_text(&task->reason, reason + 2);
            }
        }
    }
    topo_hosts_fini(&hosts);
    free(list);
}

/* Reads `Task launch for STEP failed on node HOST: REASON`. */
static void on_refusal(const char *line, const struct teller *to)
{
    static const char mark[] = " failed on node ";
    const char *host = strstr(line, mark), *reason;
    char *name;

    if (host == NULL)
        return;
    host += strlen(mark);
    reason = strstr(host, ": ");
    if (reason == NULL || reason == host)
        return;
    name = strndup(host, (size_t)(reason - host));
    if (name != NULL)
        tell_host(to, name, EP_SRUN_REFUSED, reason + 2, NULL);
    free(name);
}

/* True for `slurmstepd-HOST: error: *** STEP 7.0 ON HOST CANCELLED AT TIME
 * ***`. Any task may print this when other tasks have failed; the line does not
 * tell how this task has ended. */
static bool is_of_step(const char *words)
{
    return strncmp(words, "slurmstepd", strlen("slurmstepd")) == 0 &&
           strstr(words, ": *** STEP ") != NULL &&
           strstr(words, " CANCELLED ") != NULL;
}

static void on_words(struct ep_srun *srun, int64_t number, const char *words,
                     const struct teller *to)
{
    struct ep_srun_task *task = find_task(srun, number);

    if (task == NULL || is_of_step(words))
        return;
    keep_text(&task->words, words);
    if (task->host != NULL && task->reason != NULL)
        on_end(to, task, task->host, task->reason);
}

void ep_srun_line(struct ep_srun *srun, const char *line, const char *xylemd,
                  ep_srun_fn fn, void *arg)
{
    static const char own[] = "srun: error: ";
    static const char launch[] = "Task launch for ";
    const struct teller to = {.xylemd = xylemd, .fn = fn, .arg = arg};
    const char *at = line + strspn(line, " ");
    int64_t task = take_number(&at);

    if (task >= 0 && strncmp(at, ": ", 2) == 0)
        on_words(srun, task, at + 2, &to);
    if (strncmp(line, own, strlen(own)) != 0)
        return;
    line += strlen(own);
    if (strncmp(line, launch, strlen(launch)) == 0)
        on_refusal(line, &to);
    else
        on_ends(srun, line, &to);
}

void ep_srun_fini(struct ep_srun *srun)
{
    for (uint32_t i = 0; i < srun->cap; i++) {
        free(srun->tasks[i].words);
        free(srun->tasks[i].host);
        free(srun->tasks[i].reason);
    }
    free(srun->tasks);
    *srun = (struct ep_srun){.count = srun->count};
}
