/* Looks at processes on their hosts. */
#include "commands/stack/nodes.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "commands/attach/entrance.h"
#include "commands/choose.h"
#include "commands/stack/script.h"
#include "job/job.h"
#include "job/request.h"
#include "overlay/base/err.h"
#include "text/style.h"

enum {
    /* The most processes for one program, which limits the length of its
     * arguments. */
    TOGETHER_MAX = 1000,
    TARGET_BYTES = 24, /* the size of "RANK:PID " */
    LIMIT_BYTES = 32,
    WORDS_OWN = 7, /* how many arguments come before those of the command */
    TELL_MS = 5000,
    CHANNEL = 1 << TEXT_CHANNEL_STDOUT
};

struct batch;

/* A program of a further job, which looks at targets on one host. */
struct part {
    const struct batch *batch;
    struct stack_target *first;
    uint32_t count;
    char *list;         /* owned: the targets as one argument */
    const char **words; /* owned */
    struct stack_stream stream;
    bool has_ended; /* all output of the part has come */
};

struct batch {
    struct stack_plan *plan;
    char mark[STACK_MARK_BYTES];
    char limit[LIMIT_BYTES];
    char dir[PATH_MAX];
    struct part parts[JOB_APPS_MAX];
    uint32_t count;
    struct entrance in;
    bool is_over, is_wait_told;
    const char *why; /* memory is out */
};

static uint8_t packet[JOB_DOOR_BYTES_MAX];

/* --- results */

/* Passes on a result of a part, if it is about one of the part's own
 * targets. */
static void on_look(void *arg, const struct stack_look *look)
{
    const struct part *part = arg;
    const struct stack_plan *plan = part->batch->plan;

    for (uint32_t i = 0; i < part->count; i++) {
        struct stack_target *target = &part->first[i];
        struct stack_look seen = *look;

        if (target->rank != look->rank)
            continue;
        seen.is_below = target->pid != look->pid;
        target->is_seen |= !seen.is_below;
        plan->on_look(plan->arg, &seen);
        return;
    }
}

/* --- the further job */

static const char *make_part(struct batch *batch, struct part *part)
{
    const struct stack_plan *plan = batch->plan;
    uint32_t count = 0, at = 0;
    char *end;

    while (plan->words != NULL && plan->words[count] != NULL)
        count++;
    part->list = malloc((size_t)part->count * TARGET_BYTES + 1);
    part->words = calloc(WORDS_OWN + count + 1, sizeof(*part->words));
    if (part->list == NULL || part->words == NULL)
        return ov_strerror(OV_ENOMEM);
    end = part->list;
    *end = '\0';
    for (uint32_t i = 0; i < part->count; i++) {
        const struct stack_target *target = &part->first[i];

        if (!target->is_seen)
            end += snprintf(end, TARGET_BYTES, "%u:%u ", target->rank,
                            target->pid);
    }
    part->words[at++] = "sh";
    part->words[at++] = "-c";
    part->words[at++] = stack_script;
    part->words[at++] = "sh";
    part->words[at++] = batch->mark;
    part->words[at++] = batch->limit;
    part->words[at++] = part->list;
    for (uint32_t i = 0; i < count; i++)
        part->words[at++] = plan->words[i];
    part->batch = batch;
    part->stream = (struct stack_stream){
        .mark = batch->mark, .on_look = on_look, .arg = part};
    return NULL;
}

static void free_parts(struct batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        free(batch->parts[i].list);
        free(batch->parts[i].words);
        stack_stream_free(&batch->parts[i].stream);
        batch->parts[i].list = NULL;
        batch->parts[i].words = NULL;
    }
}

static struct job_wish wish_of(const struct batch *batch,
                               const struct part *part)
{
    return (struct job_wish){
        .program = {.argv = part->words,
                    .cwd = batch->dir[0] != '\0' ? batch->dir : NULL,
                    .cwd_is_optional = true},
        .procs = 1,
        .hosts = part->first->host,
    };
}

/* Starts the job of the batch. Returns NULL, or the reason why it cannot be
 * started. */
static const char *start(struct batch *batch)
{
    struct job_wish apps[JOB_APPS_MAX];
    const struct job_request request = {.apps = apps,
                                        .apps_count = batch->count,
                                        .merges_stderr = true,
                                        .waits = true,
                                        .is_raw = true,
                                        .comes = CHANNEL};
    struct ep_session session;
    struct job_door answer;
    const char *why;

    for (uint32_t i = 0; i < batch->count; i++)
        apps[i] = wish_of(batch, &batch->parts[i]);
    if (!choose_again(batch->plan->session, &session)) {
        batch->is_over = true;
        return NULL;
    }
    why = entrance_spawn(&batch->in, &session, &request, &answer);
    if (why == NULL || answer.kind == JOB_DOOR_UNSTARTED)
        return why;
    batch->is_over = !choose_again(batch->plan->session, &session);
    if (!batch->is_over) {
        ep_session_close(&session);
        batch->why = why;
    }
    return NULL;
}

/* --- output of the job */

static void hear_output(struct batch *batch, const struct job_door *msg)
{
    const uint32_t index = msg->first - batch->in.job.first;
    struct part *part = &batch->parts[index];

    if (index >= batch->count || msg->channel != TEXT_CHANNEL_STDOUT)
        return;
    if (stack_stream_read(&part->stream, msg->rest.at,
                          ov_rd_left(&msg->rest)) != 0)
        batch->why = ov_strerror(OV_ENOMEM);
    part->has_ended |= msg->is_end;
}

static bool is_heard(const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        if (!batch->parts[i].has_ended)
            return false;
    }
    return true;
}

/* Tells the user, once, that the command still waits. All data from the nodes
 * comes in order, so results wait until the job's earlier output has been
 * read. */
static void tell_wait(struct batch *batch)
{
    if (!batch->is_wait_told)
        fprintf(stderr,
                "xylem: still waiting: a command may take %g s for each "
                "process (--timeout); the results also wait as long as nobody "
                "reads the output of the job\n",
                batch->plan->limit_s);
    batch->is_wait_told = true;
}

/* Waits for the next message. Returns 0, OV_ECLOSED or OV_EPROTO. */
static int hear(struct batch *batch, struct job_door *msg)
{
    struct entrance_early *early = entrance_pop(&batch->in);
    uint32_t len_bytes;
    int rc = OV_EFULL;

    if (early != NULL) {
        len_bytes = early->len_bytes;
        memcpy(packet, early->mem, len_bytes);
        free(early);
        return job_door_decode(ov_rd_init(packet, len_bytes), msg);
    }
    while (rc == OV_EFULL) {
        rc = ep_session_receive(&batch->in.at,
                                batch->is_wait_told ? -1 : TELL_MS, packet,
                                &len_bytes);
        if (rc == OV_EFULL)
            tell_wait(batch);
    }
    return rc != 0 ? rc : job_door_decode(ov_rd_init(packet, len_bytes), msg);
}

/* Reads until the job has ended and all of its output has come. Returns NULL,
 * or the reason why the job could not run. */
static const char *gather(struct batch *batch)
{
    static char why[JOB_DOOR_TEXT_MAX];
    bool has_ended = false;
    struct job_door msg;

    why[0] = '\0';
    while (!has_ended || !is_heard(batch)) {
        if (hear(batch, &msg) != 0) {
            batch->is_over = true;
            break;
        }
        if (msg.kind == JOB_DOOR_OUTPUT)
            hear_output(batch, &msg);
        else if (msg.kind == JOB_DOOR_ENDED)
            has_ended = true;
        else if (msg.kind == JOB_DOOR_UNSTARTED || msg.kind == JOB_DOOR_REFUSED)
            snprintf(why, sizeof(why), "%s", msg.text);
        if (why[0] != '\0' || batch->why != NULL)
            break;
    }
    return why[0] != '\0' ? why : NULL;
}

/* --- batches */

static void fail_part(const struct batch *batch, const struct part *part,
                      const char *why)
{
    const struct stack_plan *plan = batch->plan;

    for (uint32_t i = 0; i < part->count; i++) {
        if (part->first[i].is_seen)
            continue;
        part->first[i].is_failed = true;
        plan->on_failed(plan->arg, &part->first[i], why);
    }
}

/* Runs a job for all parts. When it cannot be started, which may be because of
 * one of its hosts, each half of the parts is tried in the same way. */
static void run_batch(struct batch *batch)
{
    const uint32_t count = batch->count, half = (count + 1) / 2;
    struct part *parts;
    const char *why = NULL;

    for (uint32_t i = 0; batch->why == NULL && i < count; i++)
        batch->why = make_part(batch, &batch->parts[i]);
    if (batch->why == NULL)
        why = start(batch);
    if (batch->why == NULL && why == NULL && !batch->is_over)
        why = gather(batch);
    entrance_close(&batch->in);
    free_parts(batch);
    if (batch->is_over || batch->why != NULL)
        return;
    for (uint32_t i = 0; i < count && (why == NULL || count == 1); i++)
        fail_part(batch, &batch->parts[i],
                  why != NULL ? why : "the output of the command was cut off");
    if (why == NULL || count == 1)
        return;
    parts = malloc(sizeof(batch->parts));
    if (parts == NULL) {
        batch->why = ov_strerror(OV_ENOMEM);
        return;
    }
    memcpy(parts, batch->parts, sizeof(batch->parts));
    for (uint32_t at = 0; at < count && !batch->is_over; at += half) {
        batch->count = count - at < half ? count - at : half;
        memcpy(batch->parts, parts + at, batch->count * sizeof(*parts));
        run_batch(batch);
    }
    free(parts);
}

static int compare(const void *a, const void *b)
{
    const struct stack_target *one = a, *two = b;
    const int hosts = strcmp(one->host, two->host);

    return hosts != 0 ? hosts
                      : (one->rank > two->rank) - (one->rank < two->rank);
}

/* Takes as many targets as one job can look at, beginning with this one.
 * Returns how many they are. */
static uint32_t fill(struct batch *batch, uint32_t first)
{
    const struct stack_plan *plan = batch->plan;
    uint32_t at = first;

    batch->count = 0;
    batch->in = (struct entrance){.at = {.fd = -1}};
    while (at < plan->count && batch->count < JOB_APPS_MAX) {
        struct stack_target *target = &plan->targets[at];
        uint32_t count = 1;

        while (at + count < plan->count && count < TOGETHER_MAX &&
               strcmp(target->host, target[count].host) == 0)
            count++;
        batch->parts[batch->count++] =
            (struct part){.first = target, .count = count};
        at += count;
    }
    return at - first;
}

static const char *make_mark(char mark[STACK_MARK_BYTES])
{
    uint8_t bytes[(STACK_MARK_BYTES - 1) / 2];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return strerror(errno);
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(mark + 2 * i, 3, "%02x", bytes[i]);
    return NULL;
}

const char *stack_nodes_look(struct stack_plan *plan)
{
    struct batch *batch = calloc(1, sizeof(*batch));
    const char *why;

    if (batch == NULL)
        return ov_strerror(OV_ENOMEM);
    batch->plan = plan;
    snprintf(batch->limit, LIMIT_BYTES, "%g", plan->limit_s);
    if (getcwd(batch->dir, sizeof(batch->dir)) == NULL)
        batch->dir[0] = '\0';
    batch->why = make_mark(batch->mark);
    qsort(plan->targets, plan->count, sizeof(*plan->targets), compare);
    for (uint32_t at = 0;
         at < plan->count && !batch->is_over && batch->why == NULL;) {
        at += fill(batch, at);
        run_batch(batch);
    }
    why = batch->why;
    free(batch);
    return why;
}
