/* Sends bytes of the tool to the stdin of processes. */
#include "pmix_api/helper/push.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "overlay/wire/push.h"
#include "pmix_api/helper/door.h"
#include "pmix_api/helper/scope.h"

enum {
    /* From this many unanswered bytes on, libpmix is told to read more slowly.
     */
    SLOW_BYTES = PX_PUSH_WAITING_BYTES / 2,
    HOST_BYTES = 256,
};

/* A request of the tool that has no answer yet. */
struct call {
    struct px_lib_push push;
    size_t parts; /* how many parts are not done yet */
    bool is_accepted;
    enum px_lib_answer refusal; /* the answer of a part that was refused */
};

/* The part of a request that goes to one job. */
struct part {
    struct part *next;
    struct call *call;
    struct topo_ranges ranks; /* owned */
    uint32_t named;           /* how many of the ranges were sent */
    size_t sent_bytes;
    bool is_sent;
    bool is_local; /* the part is also for the job's processes on this
                      machine */
    /* The request names each process, so all of them must read stdin, not only
     * one. */
    bool needs_all;
};

/* The processes of a job that are on this machine. */
struct locals {
    struct topo_ranges ranks; /* owned; items NULL: not asked for yet */
    uint32_t parts, heard;    /* how many PARTs the answer has, and how many
                                 have come */
};

/* A connection to one job. */
struct writer {
    struct writer *next;
    struct px_pushing_tool *all;
    struct px_door *door;       /* owned */
    uint32_t base, count;       /* the first process number of the writer's job,
                                   and the number of its processes */
    uint32_t push_bytes;        /* the longest message; 0: not attached yet */
    struct part *first, **last; /* owned */
    struct topo_ranges set;     /* owned: the targets of the last message */
    struct locals locals;
};

struct px_pushing_tool {
    struct px_pushing_cfg cfg;
    struct writer *writers; /* owned */
    uint64_t waiting_bytes;
    bool has_completed; /* the tool's library no longer reads the tool's
                           stdin */
    char here[HOST_BYTES];
};

/* --- answers */

/* Counts unanswered bytes, and slows libpmix down when there are many: a tool's
 * library that reads the tool's stdin does not wait for answers. */
static void count_bytes(struct px_pushing_tool *pushing, uint64_t waiting_bytes)
{
    pushing->waiting_bytes = waiting_bytes;
    px_lib_slow(waiting_bytes > SLOW_BYTES);
}

static void finish_call(struct px_pushing_tool *pushing, struct call *call)
{
    count_bytes(pushing, pushing->waiting_bytes - call->push.len_bytes);
    px_lib_answer(call->push.call,
                  call->is_accepted ? PX_LIB_YES : call->refusal);
    free(call);
}

/* Removes the writer's first part with this answer, and answers the request
 * when all its parts are done. */
static void finish_part(struct writer *writer, enum px_lib_answer answer)
{
    struct part *part = writer->first;
    struct call *call = part->call;

    writer->first = part->next;
    if (writer->first == NULL)
        writer->last = &writer->first;
    free(part->ranks.items);
    free(part);
    if (answer == PX_LIB_YES)
        call->is_accepted = true;
    else
        call->refusal = answer;
    if (--call->parts == 0)
        finish_call(writer->all, call);
}

/* --- messages */

static bool is_same(const struct topo_ranges *a, const struct topo_ranges *b)
{
    return a->count == b->count &&
           memcmp(a->items, b->items, a->count * sizeof(*a->items)) == 0;
}

/* Keeps the set of targets that was sent. When memory is out, nothing is kept,
 * and the set is sent again with the next part. */
static void keep_set(struct writer *writer, const struct topo_ranges *ranks)
{
    const size_t bytes = ranks->count * sizeof(*ranks->items);

    free(writer->set.items);
    writer->set = (struct topo_ranges){.items = malloc(bytes)};
    if (writer->set.items == NULL)
        return;
    memcpy(writer->set.items, ranks->items, bytes);
    writer->set.count = ranks->count;
}

/* Writes as many ranges as there is room for. Returns the flags of the
 * message. */
static uint16_t name_some(const struct writer *writer, struct part *part,
                          struct ov_wr *wr)
{
    const size_t room =
        (writer->push_bytes - OV_PUSH_HEAD_BYTES) / OV_PUSH_RANGE_BYTES;
    struct topo_range some[JOB_DOOR_REST_MAX / OV_PUSH_RANGE_BYTES];
    uint16_t flags =
        part->named == 0 && part->ranks.count > 0 ? OV_PUSH_NEW : 0;
    uint16_t n = 0;

    while (n < room && part->named < part->ranks.count) {
        const struct topo_range *range = &part->ranks.items[part->named++];

        some[n++] = (struct topo_range){writer->base + range->first,
                                        writer->base + range->last};
    }
    if (part->named < part->ranks.count)
        flags |= OV_PUSH_MORE;
    ov_push_encode(wr, flags, some, n);
    return flags;
}

static void set_flags(uint8_t *mem, uint16_t flags)
{
    struct ov_wr wr = ov_wr_init(mem, sizeof(flags));

    ov_wr_u16(&wr, flags);
}

/* Sends the next message of the part: its targets, if they differ from the last
 * message's, and bytes. */
static void send_some(struct writer *writer, struct part *part)
{
    const struct px_lib_push *push = &part->call->push;
    uint8_t mem[JOB_DOOR_REST_MAX];
    struct ov_wr wr = ov_wr_init(mem, writer->push_bytes);
    uint16_t flags = name_some(writer, part, &wr);
    size_t room = (size_t)(wr.end - wr.at);
    size_t left = push->len_bytes - part->sent_bytes;

    if ((flags & OV_PUSH_MORE) == 0) {
        if (left <= room && push->is_end)
            flags |= OV_PUSH_CLOSE;
        part->is_sent = left <= room;
        ov_wr_bytes(&wr, (const uint8_t *)push->mem + part->sent_bytes,
                    left < room ? left : room);
        part->sent_bytes += left < room ? left : room;
    }
    set_flags(mem, flags);
    px_door_say(
        writer->door,
        &(struct job_door){.kind = JOB_DOOR_PUSH,
                           .needs_all = part->needs_all,
                           .is_more = !part->is_sent,
                           .rest = ov_rd_init(mem, (size_t)(wr.at - mem))});
}

static void begin_next(struct writer *writer)
{
    struct part *part = writer->first;

    if (is_same(&part->ranks, &writer->set))
        part->named = part->ranks.count;
    else
        keep_set(writer, &part->ranks);
    send_some(writer, part);
}

/* --- the processes on this machine */

static void ask_places(struct writer *writer)
{
    px_door_say(writer->door,
                &(struct job_door){.kind = JOB_DOOR_WHERE,
                                   .parts = writer->locals.heard});
}

/* Asks the session, once, which processes of the job are on this machine.
 * False: memory is out. */
static bool ask_locals(struct writer *writer)
{
    struct locals *locals = &writer->locals;
    struct topo_range *items;

    if (locals->ranks.items != NULL)
        return true;
    items = calloc((size_t)locals->parts + 1, sizeof(*items));
    if (items == NULL)
        return false;
    topo_ranges_init(&locals->ranks, items, locals->parts);
    if (locals->parts > 0)
        ask_places(writer);
    return true;
}

/* Adds the processes on this machine to a part. Returns PX_LIB_YES, or the
 * reason to refuse the part. */
static enum px_lib_answer add_locals(const struct locals *locals,
                                     struct part *part)
{
    struct topo_ranges both;
    struct topo_range *items;
    uint32_t max = part->ranks.count + locals->ranks.count;

    part->is_local = false;
    if (locals->ranks.count == 0)
        return PX_LIB_NOT_FOUND;
    items = calloc(max, sizeof(*items));
    if (items == NULL)
        return PX_LIB_NO_RESOURCE;
    topo_ranges_init(&both, items, max);
    for (uint32_t i = 0; i < part->ranks.count; i++)
        (void)topo_ranges_add(&both, part->ranks.items[i]);
    for (uint32_t i = 0; i < locals->ranks.count; i++)
        (void)topo_ranges_add(&both, locals->ranks.items[i]);
    free(part->ranks.items);
    part->ranks = both;
    return PX_LIB_YES;
}

/* Begins to send the first part of an attached writer. A part for the processes
 * on this machine waits until these are known. */
static void begin_part(struct writer *writer)
{
    const struct locals *locals = &writer->locals;

    while (writer->push_bytes != 0 && writer->first != NULL &&
           writer->first->is_local) {
        enum px_lib_answer answer = PX_LIB_NO_RESOURCE;

        if (ask_locals(writer)) {
            if (locals->heard < locals->parts)
                return;
            answer = add_locals(locals, writer->first);
        }
        if (answer != PX_LIB_YES)
            finish_part(writer, answer);
    }
    if (writer->push_bytes != 0 && writer->first != NULL)
        begin_next(writer);
}

static void on_place(struct writer *writer, const struct job_door *msg)
{
    struct locals *locals = &writer->locals;
    const uint32_t first = msg->first - writer->base;

    if (msg->parts != locals->heard || locals->heard == locals->parts ||
        msg->count == 0)
        return;
    locals->heard++;
    if (strcmp(msg->text, writer->all->here) == 0)
        (void)topo_ranges_add(
            &locals->ranks, (struct topo_range){first, first + msg->count - 1});
    if (locals->heard == locals->parts)
        begin_part(writer);
    else if (locals->heard % JOB_DOOR_PARTS == 0)
        ask_places(writer);
}

/* --- the door */

static void on_pushed(struct writer *writer, const struct job_door *msg)
{
    struct part *part = writer->first;

    if (part == NULL)
        return;
    if (!msg->is_over && !part->is_sent) {
        send_some(writer, part);
        return;
    }
    if (msg->is_over && part->named < part->ranks.count)
        writer->set.count = 0; /* only a part of the set was sent, so it must be
                                  sent again */
    finish_part(writer, msg->is_over ? PX_LIB_IS_COMPLETE : PX_LIB_YES);
    begin_part(writer);
}

static bool on_word(void *arg, const struct job_door *msg)
{
    struct writer *writer = arg;

    if (msg->kind == JOB_DOOR_PUSHED)
        on_pushed(writer, msg);
    if (msg->kind == JOB_DOOR_PART)
        on_place(writer, msg);
    if (msg->kind != JOB_DOOR_JOB || writer->push_bytes != 0 ||
        msg->push_bytes < OV_PUSH_HEAD_BYTES + OV_PUSH_RANGE_BYTES ||
        msg->push_bytes > JOB_DOOR_REST_MAX)
        return true;
    writer->locals.parts = msg->parts;
    writer->push_bytes = msg->push_bytes;
    begin_part(writer);
    return true;
}

static void free_writer(struct writer *writer)
{
    struct writer **at = &writer->all->writers;

    while (*at != writer)
        at = &(*at)->next;
    *at = writer->next;
    px_door_close(writer->door);
    free(writer->set.items);
    free(writer->locals.ranks.items);
    free(writer);
}

/* The session no longer knows the job, or the connection has ended. */
static void on_end(void *arg, const char *why)
{
    struct writer *writer = arg;

    (void)why;
    while (writer->first != NULL)
        finish_part(writer, PX_LIB_IS_COMPLETE);
    free_writer(writer);
}

static struct writer *find_writer(struct px_pushing_tool *pushing,
                                  uint32_t base)
{
    struct writer *at = pushing->writers;

    while (at != NULL && at->base != base)
        at = at->next;
    return at;
}

static struct writer *make_writer(struct px_pushing_tool *pushing,
                                  const struct px_jobs_entry *job)
{
    static const struct px_door_events events = {.on_word = on_word,
                                                 .on_end = on_end};
    struct job_door attach = {.kind = JOB_DOOR_ATTACH};
    struct writer *writer = calloc(1, sizeof(*writer));

    if (writer == NULL)
        return NULL;
    writer->all = pushing;
    writer->base = job->base;
    writer->last = &writer->first;
    if (px_door_open(pushing->cfg.way, &events, writer, &writer->door) != 0) {
        free(writer);
        return NULL;
    }
    writer->next = pushing->writers;
    pushing->writers = writer;
    snprintf(attach.text, sizeof(attach.text), "%s", job->name);
    px_door_say(writer->door, &attach);
    return writer;
}

/* --- a request of the tool */

/* Makes a part of a request. All parts are made before the first is sent, so
 * that nothing is sent when memory is out. */
static struct part *make_part(struct px_pushing_tool *pushing,
                              struct call *call, struct px_scope *scope)
{
    struct part *part = calloc(1, sizeof(*part));

    if (part == NULL || (find_writer(pushing, scope->job.base) == NULL &&
                         make_writer(pushing, &scope->job) == NULL)) {
        free(part);
        return NULL;
    }
    part->call = call;
    part->ranks = scope->ranks;
    part->is_local = scope->is_local;
    part->needs_all =
        !scope->is_all && !scope->is_local && !call->push.is_collected;
    scope->ranks.items = NULL;
    return part;
}

static void append_part(struct writer *writer, struct part *part)
{
    const bool is_idle = writer->first == NULL;

    *writer->last = part;
    writer->last = &part->next;
    if (is_idle)
        begin_part(writer);
}

static enum px_lib_answer start_call(struct px_pushing_tool *pushing,
                                     struct call *call,
                                     struct px_scopes *scopes)
{
    struct part **parts = calloc(scopes->count, sizeof(struct part *));
    size_t made = 0;

    while (parts != NULL && made < scopes->count &&
           (parts[made] = make_part(pushing, call, &scopes->at[made])) != NULL)
        made++;
    if (parts != NULL && made == scopes->count) {
        call->parts = made;
        count_bytes(pushing, pushing->waiting_bytes + call->push.len_bytes);
        for (size_t i = 0; i < made; i++)
            append_part(find_writer(pushing, scopes->at[i].job.base), parts[i]);
        free(parts);
        return PX_LIB_YES;
    }
    for (size_t i = 0; i < made; i++) {
        free(parts[i]->ranks.items);
        free(parts[i]);
    }
    free(parts);
    return PX_LIB_NO_RESOURCE;
}

/* True when the unanswered bytes would exceed their limit while the tool's
 * library reads the tool's stdin. Such a library ignores answers, so the tool
 * must be disconnected. */
static bool is_flood(const struct px_pushing_tool *pushing,
                     const struct px_lib_push *push)
{
    return pushing->waiting_bytes + push->len_bytes > PX_PUSH_WAITING_BYTES;
}

static enum px_lib_answer judge_push(struct px_pushing_tool *pushing,
                                     const struct px_lib_push *push,
                                     struct px_scopes *scopes)
{
    if (push->strange != NULL)
        return PX_LIB_NOT_SUPPORTED;
    if (push->is_collected && pushing->has_completed)
        return PX_LIB_IS_COMPLETE;
    if (is_flood(pushing, push))
        return PX_LIB_NO_RESOURCE;
    return px_scopes_find(pushing->cfg.jobs, push->targets, push->count,
                          scopes);
}

void px_pushing_on_push(struct px_pushing_tool *pushing,
                        const struct px_lib_push *push)
{
    struct px_scopes scopes = {.at = NULL};
    enum px_lib_answer answer = judge_push(pushing, push, &scopes);
    struct call *call = NULL;
    bool is_over;

    if (answer == PX_LIB_YES) {
        pushing->has_completed |= push->is_end && push->len_bytes > 0;
        call = calloc(1, sizeof(*call));
        answer = PX_LIB_NO_RESOURCE;
    }
    if (call != NULL) {
        call->push = *push;
        answer = start_call(pushing, call, &scopes);
    }
    px_scopes_end(&scopes);
    if (answer == PX_LIB_YES)
        return;
    free(call);
    is_over = is_flood(pushing, push) && pushing->waiting_bytes > 0;
    px_lib_answer(push->call, answer); /* The answer may lead to
                                        * px_pushing_close(). */
    if (is_over)
        pushing->cfg.on_flood(pushing->cfg.arg);
}

/* --- opening and closing */

int px_pushing_open(const struct px_pushing_cfg *cfg,
                    struct px_pushing_tool **out)
{
    *out = calloc(1, sizeof(**out));
    if (*out == NULL)
        return OV_ENOMEM;
    (*out)->cfg = *cfg;
    if (gethostname((*out)->here, sizeof((*out)->here) - 1) != 0)
        strcpy((*out)->here, "localhost");
    return 0;
}

static void drop_part(struct writer *writer)
{
    struct part *part = writer->first;

    writer->first = part->next;
    free(part->ranks.items);
    if (--part->call->parts == 0)
        free(part->call);
    free(part);
}

void px_pushing_close(struct px_pushing_tool *pushing)
{
    if (pushing == NULL)
        return;
    while (pushing->writers != NULL) {
        while (pushing->writers->first != NULL)
            drop_part(pushing->writers);
        free_writer(pushing->writers);
    }
    free(pushing);
}
