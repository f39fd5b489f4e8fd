/* A launcher for viewers, and their clients. */
#include "config.h"

#include "tests/unit/viewers_lab.h"

#include <inttypes.h>
#include <sys/socket.h>
#include <unistd.h>

#include "endpoints/sys/writer.h"
#include "job/replay.h"
#include "overlay/wire/push.h"
#include "text/fields.h"

/* --- the launcher */

/* Records a call. The launcher allows these calls only from outside of its own
 * calls. */
static void call(struct lab *lab, const char *text)
{
    assert_false(lab->is_telling);
    lab_add(lab->calls, "%s", text);
}

static void on_part(void *arg, uint32_t base, uint32_t index,
                    struct job_neighbours *out)
{
    struct lab *lab = arg;

    (void)base;
    assert_true(index < LAB_HOSTS);
    snprintf(lab->hosts[index], sizeof(lab->hosts[index]), "h%u", index);
    *out = (struct job_neighbours){.host = lab->hosts[index],
                                   .program = "prog",
                                   .first_rank = index * lab->each,
                                   .ranks = lab->each};
}

static bool on_back(void *arg, const struct job_record *rec)
{
    struct lab *lab = arg;

    assert_false(lab->is_telling);
    lab_add(lab->calls, "back %u.%u '%.*s'%s", rec->proc, rec->channel,
            (int)rec->len_bytes, rec->mem != NULL ? (const char *)rec->mem : "",
            rec->is_end ? " end" : "");
    return lab->takes_back;
}

static void on_back_over(void *arg)
{
    lab_add(((struct lab *)arg)->calls, "back over");
}

static void on_flushed(void *arg)
{
    call(arg, "flushed");
}

static void on_push(void *arg, uint32_t base, uint32_t writer,
                    const uint8_t *mem, uint32_t len_bytes)
{
    struct lab *lab = arg;
    struct ov_push push;
    char set[256] = "";

    assert_false(lab->is_telling);
    assert_int_equal(ov_push_decode(mem, len_bytes, &push), 0);
    for (unsigned i = 0; i < push.ranges; i++) {
        struct topo_range range = ov_push_range(&push);
        size_t len = strlen(set);

        snprintf(set + len, sizeof(set) - len, " %u-%u", range.first,
                 range.last);
    }
    lab_add(lab->calls, "push %u/%u%s%s%s%s '%.*s'", base, writer,
            (push.flags & OV_PUSH_NEW) != 0 ? " new" : "", set,
            (push.flags & OV_PUSH_MORE) != 0 ? " more" : "",
            (push.flags & OV_PUSH_CLOSE) != 0 ? " close" : "",
            (int)push.len_bytes, (const char *)mem + push.off_bytes);
    if (lab->pushes_at_once)
        ep_viewers_pushed(lab->tap, writer);
}

static void on_left(void *arg, uint32_t base, uint32_t writer)
{
    lab_add(((struct lab *)arg)->calls, "left %u/%u", base, writer);
}

static void on_pushers(void *arg, bool are_there)
{
    call(arg, are_there ? "pushers" : "no pushers");
}

static uint16_t on_replay(void *arg, const struct job_replay_wish *want)
{
    struct lab *lab = arg;
    char set[256] = "";

    for (uint32_t i = 0; i < want->count; i++) {
        size_t len = strlen(set);

        snprintf(set + len, sizeof(set) - len, " %u-%u", want->ranges[i].first,
                 want->ranges[i].last);
    }
    lab_add(lab->calls, "replay%s channels %u bytes %u%s", set, want->channels,
            want->bytes, want->is_last ? " last" : "");
    return lab->ticket;
}

static bool on_wanted(void *arg)
{
    struct lab *lab = arg;

    lab_add(lab->calls, "wanted");
    return lab->tells_wanted;
}

static bool on_signal(void *arg, int signo, const struct topo_range *ranges,
                      uint32_t count)
{
    const struct lab *lab = arg;
    char text[256];
    int len = snprintf(text, sizeof(text), "signal %d", signo);

    assert_in_range(count, 1, 8);
    for (uint32_t i = 0; i < count; i++)
        len += snprintf(text + len, sizeof(text) - (size_t)len, " %u-%u",
                        ranges[i].first, ranges[i].last);
    call(arg, text);
    return !lab->has_no_signals;
}

static void on_hold(void *arg, const struct topo_range *range, bool is_held)
{
    char text[64];

    snprintf(text, sizeof(text), "%s %u-%u", is_held ? "hold" : "go on",
             range->first, range->last);
    call(arg, text);
}

static bool on_log(void *arg, uint32_t token, uint8_t channel, const char *text,
                   uint32_t len_bytes)
{
    struct lab *lab = arg;

    assert_false(lab->is_telling);
    if (len_bytes > 32)
        lab_add(lab->calls, "log %u.%u bytes %u", token, channel, len_bytes);
    else
        lab_add(lab->calls, "log %u.%u '%.*s'", token, channel, (int)len_bytes,
                text);
    if (lab->logs_at_once)
        ep_viewers_logged(lab->tap, token);
    return !lab->has_no_logs;
}

static void on_say(void *arg, const char *text)
{
    lab_add(((struct lab *)arg)->calls, "say %s", text);
}

static void on_note(void *arg, const char *text)
{
    lab_add(((struct lab *)arg)->calls, "note %s", text);
}

void lab_open(struct lab *lab)
{
    *lab = (struct lab){
        .size = 4, .parts = 2, .each = 2, .spawns_max = UINT32_MAX};
    lab->takes_back = true;
    lab->base = event_base_new();
    assert_int_equal(ep_writer_open(lab->base, &lab->writer), 0);
    lab->all = ep_viewers_new();
    assert_true(lab->base != NULL && lab->all != NULL);
}

static void tell_job(struct lab *lab, const struct ep_client_job *job)
{
    lab->is_telling = true;
    ep_viewers_job(lab->tap, job);
    lab->is_telling = false;
}

/* Reports to the clients that are known, before it returns, that the job
 * begins. */
static bool on_spawn(void *arg, const struct ep_client_spawn *spawn,
                     struct ep_client_spawned *out, char *why)
{
    struct lab *lab = arg;
    uint32_t size = lab_note_spawn(lab, spawn);

    assert_non_null(lab->tap); /* the tap is open */
    assert_false(lab->is_telling);
    out->refusal = lab->refusal;
    snprintf(why, EP_CLIENT_WHY_MAX, "%s",
             lab->why != NULL ? lab->why : "out of memory");
    if (lab->made == lab->spawns_max)
        return false;
    out->refusal = EP_CLIENT_NO_ROOM;
    out->base = LAB_BASE + lab->next;
    out->size = size;
    out->parts = 1;
    out->cache_bytes = lab->cache_bytes_of_spawned;
    lab->next += size;
    snprintf(out->nspace, sizeof(out->nspace), "own.%u", ++lab->made);
    tell_job(lab, &(struct ep_client_job){
                      .event = EP_CLIENT_JOB_BEGUN,
                      .base = out->base,
                      .size = size,
                      .nspace = out->nspace,
                      .channels = spawn->has_stddiag ? LAB_BOTH | 8 : LAB_BOTH,
                      .apps = 1,
                      .parts = 1,
                      .cache_bytes = out->cache_bytes});
    return true;
}

static void on_flow(void *arg, uint32_t base, struct ep_client_flow *out)
{
    (void)arg;
    *out =
        (struct ep_client_flow){.output_bytes = 100 + base,
                                .quiet_ns = base == 0 ? UINT64_MAX : 5000000000,
                                .stdin_bytes = 7,
                                .waiting_bytes = 3};
}

static bool on_groups(void *arg, uint32_t base, struct text_buf *text)
{
    const struct lab *lab = arg;

    text_buf_printf(text, "running: those from %u on\n", base);
    return !lab->is_looking;
}

void lab_begin(struct lab *lab)
{
    static const struct ep_client_events events = {.on_part = on_part,
                                                   .on_back = on_back,
                                                   .on_back_over = on_back_over,
                                                   .on_flushed = on_flushed,
                                                   .on_push = on_push,
                                                   .on_left = on_left,
                                                   .on_pushers = on_pushers,
                                                   .on_replay = on_replay,
                                                   .on_wanted = on_wanted,
                                                   .on_signal = on_signal,
                                                   .on_hold = on_hold,
                                                   .on_spawn = on_spawn,
                                                   .on_log = on_log,
                                                   .on_flow = on_flow,
                                                   .on_groups = on_groups,
                                                   .on_say = on_say,
                                                   .on_note = on_note};
    const struct ep_client_cfg cfg = {.base = lab->base,
                                      .nspace = "own",
                                      .size = lab->size,
                                      .apps = 1,
                                      .parts = lab->parts,
                                      .channels = LAB_BOTH,
                                      .cache_bytes = lab->cache_bytes,
                                      .push_bytes = LAB_PUSH_BYTES,
                                      .is_dvm = lab->is_dvm,
                                      .writer = lab->writer,
                                      .events = &events,
                                      .arg = lab};

    assert_int_equal(ep_viewers_open(lab->all, &cfg), 0);
    lab->tap = lab->all;
}

void lab_end(struct lab *lab)
{
    ep_viewers_close(lab->tap);
    lab->tap = NULL;
}

void lab_close(struct lab *lab)
{
    if (lab->tap != NULL)
        lab_end(lab);
    ep_viewers_free(lab->all);
    ep_writer_close(lab->writer, true);
    event_base_free(lab->base);
}

void lab_turn(struct lab *lab)
{
    event_base_loop(lab->base, EVLOOP_NONBLOCK);
}

const char *lab_calls(struct lab *lab)
{
    static char calls[LAB_TEXT_MAX];

    memcpy(calls, lab->calls, sizeof(calls));
    lab->calls[0] = '\0';
    return calls;
}

void lab_job_begun(struct lab *lab, const char *name, uint32_t base,
                   uint32_t size, uint32_t cache_bytes)
{
    tell_job(lab, &(struct ep_client_job){.event = EP_CLIENT_JOB_BEGUN,
                                          .base = base,
                                          .size = size,
                                          .nspace = name,
                                          .channels = LAB_BOTH,
                                          .apps = 1,
                                          .parts = 1,
                                          .cache_bytes = cache_bytes});
}

void lab_job_started(struct lab *lab, uint32_t base)
{
    tell_job(lab, &(struct ep_client_job){.event = EP_CLIENT_JOB_STARTED,
                                          .base = base});
}

void lab_job(struct lab *lab, const char *name, uint32_t base, uint32_t size,
             uint32_t cache_bytes)
{
    lab_job_begun(lab, name, base, size, cache_bytes);
    lab_job_started(lab, base);
}

void lab_job_ended(struct lab *lab, uint32_t base)
{
    tell_job(lab, &(struct ep_client_job){.event = EP_CLIENT_JOB_ENDED,
                                          .base = base});
}

void lab_job_forgotten(struct lab *lab, uint32_t base)
{
    tell_job(lab, &(struct ep_client_job){.event = EP_CLIENT_JOB_FORGOTTEN,
                                          .base = base});
}

/* --- output */

static bool tell(struct lab *lab, const struct job_record *rec)
{
    bool did;

    lab->is_telling = true;
    did = ep_viewers_output(lab->tap, rec);
    lab->is_telling = false;
    return did;
}

static void give(struct lab *lab, const struct job_record *rec)
{
    assert_false(tell(lab, rec));
}

bool lab_redirect(struct lab *lab, uint32_t proc, uint8_t channel,
                  const char *text, bool is_end)
{
    return tell(lab, &(struct job_record){.mem = (const uint8_t *)text,
                                          .len_bytes = (uint32_t)strlen(text),
                                          .proc = proc,
                                          .channel = channel,
                                          .is_redirected = true,
                                          .is_end = is_end});
}

void lab_put(struct lab *lab, uint32_t proc, uint8_t channel, const void *mem,
             uint32_t len_bytes, bool is_end)
{
    give(lab, &(struct job_record){.mem = len_bytes > 0 ? mem : NULL,
                                   .len_bytes = len_bytes,
                                   .proc = proc,
                                   .channel = channel,
                                   .is_end = is_end});
}

void lab_write(struct lab *lab, uint32_t proc, uint8_t channel,
               const char *text)
{
    lab_put(lab, proc, channel, text, (uint32_t)strlen(text), false);
}

void lab_finish(struct lab *lab, uint32_t proc, uint8_t channel)
{
    lab_put(lab, proc, channel, NULL, 0, true);
}

void lab_past(struct lab *lab, uint32_t proc, uint8_t channel, const char *text,
              uint64_t before_bytes, bool is_turn)
{
    uint32_t len_bytes = (uint32_t)strlen(text);

    give(lab, &(struct job_record){.mem = len_bytes > 0 ? (const uint8_t *)text
                                                        : NULL,
                                   .len_bytes = len_bytes,
                                   .proc = proc,
                                   .channel = channel,
                                   .ticket = lab->ticket,
                                   .is_turn = is_turn,
                                   .before_bytes = before_bytes});
}

void lab_told(struct lab *lab, uint32_t first, uint32_t count)
{
    give(lab, &(struct job_record){.proc = first,
                                   .channel = 1,
                                   .ticket = lab->ticket,
                                   .heard = count});
}

/* --- clients */

static void on_cut(void *arg, const char *why)
{
    struct lab_client *client = arg;

    client->viewer = NULL;
    client->watcher = NULL;
    client->is_cut = true;
    snprintf(client->why, sizeof(client->why), "%s", why != NULL ? why : "");
}

static const struct ep_viewer_events viewer_events = {.on_cut = on_cut};
static const struct ep_watcher_events watcher_events = {.on_cut = on_cut};

static void connect_client(struct lab *lab, struct lab_client *client)
{
    int fds[2];

    *client = (struct lab_client){.lab = lab};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds),
                     0);
    client->ours = fds[0];
    client->fd = fds[1];
}

void lab_come(struct lab *lab, struct lab_client *client, const char *name)
{
    connect_client(lab, client);
    client->viewer = ep_viewer_open(lab->all, client->ours, name,
                                    &viewer_events, client, client->why);
}

void lab_ask(struct lab *lab, struct lab_client *client)
{
    connect_client(lab, client);
    client->viewer =
        ep_viewer_ask(lab->all, client->ours, &viewer_events, client);
    assert_non_null(client->viewer);
}

void lab_watch(struct lab *lab, struct lab_client *client)
{
    const char *why = "";

    connect_client(lab, client);
    client->watcher =
        ep_watcher_open(ep_viewers_watchers(lab->all), client->ours,
                        &watcher_events, client, &why);
    if (client->watcher == NULL)
        snprintf(client->why, sizeof(client->why), "%s", why);
}

void lab_attach(struct lab *lab, struct lab_client *client, const char *name)
{
    lab_come(lab, client, name);
    assert_non_null(client->viewer);
    assert_memory_equal(lab_heard(client), "job ", 4);
}

void lab_leave(struct lab_client *client)
{
    if (client->viewer != NULL)
        ep_viewer_close(client->viewer);
    if (client->watcher != NULL)
        ep_watcher_close(client->watcher);
    client->viewer = NULL;
    client->watcher = NULL;
    close(client->ours);
    close(client->fd);
}

const char *lab_say(struct lab_client *client, struct job_door msg)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct job_door said;
    const char *why;

    job_door_encode(&wr, &msg);
    assert_false(wr.bad);
    assert_int_equal(
        job_door_decode(ov_rd_init(mem, (size_t)(wr.at - mem)), &said), 0);
    why = client->watcher != NULL ? ep_watcher_hear(client->watcher, &said)
                                  : ep_viewer_hear(client->viewer, &said);
    if (why == NULL)
        return "";
    if (client->watcher != NULL)
        ep_watcher_close(client->watcher);
    else
        ep_viewer_close(client->viewer);
    client->viewer = NULL;
    client->watcher = NULL;
    return why;
}

const char *lab_spawn(struct lab_client *client, const uint8_t *mem,
                      size_t len_bytes, bool is_more)
{
    return lab_say(client,
                   (struct job_door){.kind = JOB_DOOR_SPAWN,
                                     .is_more = is_more,
                                     .rest = ov_rd_init(mem, len_bytes)});
}

const char *lab_pull(struct lab_client *client, uint8_t channels)
{
    return lab_say(client, (struct job_door){.kind = JOB_DOOR_PULL,
                                             .channels = channels,
                                             .cache_bytes = JOB_CACHE_UNSAID});
}

const char *lab_pull_away(struct lab_client *client, uint8_t channels)
{
    return lab_say(client, (struct job_door){.kind = JOB_DOOR_PULL,
                                             .channels = channels,
                                             .redirects = true,
                                             .cache_bytes = JOB_CACHE_UNSAID});
}

const char *lab_taken(struct lab_client *client, uint64_t outputs)
{
    return lab_say(client,
                   (struct job_door){.kind = JOB_DOOR_TAKEN, .taken = outputs});
}

const char *lab_range(struct lab_client *client, uint32_t first, uint32_t last)
{
    uint8_t mem[JOB_DOOR_RANGE_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    ov_wr_u32(&wr, first);
    ov_wr_u32(&wr, last);
    return lab_say(client,
                   (struct job_door){.kind = JOB_DOOR_RANGES,
                                     .rest = ov_rd_init(mem, sizeof(mem))});
}

const char *lab_push(struct lab_client *client, uint16_t flags, uint32_t first,
                     uint32_t last, const char *text)
{
    const struct topo_range range = {.first = first, .last = last};
    uint8_t mem[LAB_PUSH_BYTES + 1];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    ov_push_encode(&wr, flags, &range,
                   (flags & (OV_PUSH_NEW | OV_PUSH_MORE)) != 0);
    ov_wr_bytes(&wr, text, strlen(text));
    return lab_say(client, (struct job_door){
                               .kind = JOB_DOOR_PUSH,
                               .needs_all = client->needs_all,
                               .is_more = client->is_more,
                               .rest = ov_rd_init(mem, (size_t)(wr.at - mem))});
}
