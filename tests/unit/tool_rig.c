/* A door and a libpmix that act as the tests tell them. */
#include "config.h"

#include "tests/unit/tool_rig.h"

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "overlay/base/err.h"

struct tool_rig tool_rig;

/* --- libpmix */

int px_lib_job(const char *nspace, uint32_t size)
{
    (void)nspace;
    (void)size;
    return 0;
}

int px_lib_job_end(const char *nspace)
{
    (void)nspace;
    return 0;
}

void px_lib_answer_pull(enum px_lib_answer answer)
{
    tool_rig.pull_answer = answer;
    tool_rig.pull_answers++;
}

void px_lib_answer(void *call, enum px_lib_answer answer)
{
    tool_rig.push_calls[tool_rig.pushes] = call;
    tool_rig.push_answers[tool_rig.pushes++] = answer;
    if (tool_rig.forgets != NULL)
        memset(tool_rig.forgets, 0x7f, sizeof(*tool_rig.forgets));
}

void px_lib_answer_spawn(void *call, const char *nspace)
{
    tool_rig.spawn_call = call;
    snprintf(tool_rig.spawned, sizeof(tool_rig.spawned), "%s", nspace);
}

static void print_value(FILE *to, const struct px_lib_value *value)
{
    if (value->type == PX_LIB_NUMBER)
        fprintf(to, "%llu/%d", (unsigned long long)value->as.number,
                value->width);
    else if (value->type == PX_LIB_TEXT)
        fputs(value->as.text, to);
    else if (value->type == PX_LIB_NAME)
        fprintf(to, "%s.%d", value->as.names->nspace,
                (int)value->as.names->rank);
    else if (value->type == PX_LIB_TIME)
        fprintf(to, "%lld", (long long)value->as.time_s);
    else if (value->type == PX_LIB_STATUS)
        fprintf(to, "%d", value->as.status);
    else
        fputs(value->as.flag ? "yes" : "no", to);
}

int px_lib_event(enum px_lib_status code, const struct px_lib_name *source,
                 const struct px_lib_info *infos, size_t count)
{
    const unsigned nth = tool_rig.events++;
    FILE *to = fmemopen(tool_rig.event_texts[nth],
                        sizeof(tool_rig.event_texts[nth]), "w");

    assert_non_null(to);
    tool_rig.event_codes[nth] = code;
    fprintf(to, "%s %d", source->nspace, (int)source->rank);
    for (size_t i = 0; i < count; i++) {
        fprintf(to, " %s=", infos[i].key);
        print_value(to, &infos[i].value);
    }
    fclose(to);
    return 0;
}

int px_lib_event_of(const void *mem, size_t len_bytes)
{
    assert_memory_equal(mem, "event", len_bytes);
    tool_rig.others++;
    return 0;
}

size_t px_lib_room(void)
{
    return tool_rig.room;
}

uint64_t px_lib_taken(void)
{
    return tool_rig.taken;
}

uint64_t px_lib_missed(uint64_t behind)
{
    if (tool_rig.find_missed != NULL)
        return tool_rig.find_missed(behind);
    return tool_rig.missed > behind ? tool_rig.missed : 0;
}

void px_lib_withhold(const char *nspace, uint32_t rank, uint16_t channels)
{
    (void)nspace;
    (void)rank;
    tool_rig.withheld += (unsigned)__builtin_popcount(channels);
    if (tool_rig.on_withhold != NULL)
        tool_rig.on_withhold();
}

void px_lib_slow(bool is_slow)
{
    tool_rig.is_slow = is_slow;
}

int px_lib_deliver(const struct px_lib_output *output)
{
    struct tool_rig_delivery *at = &tool_rig.all[tool_rig.given++];

    assert_true(tool_rig.room > 0);
    assert_true(tool_rig.given < TOOL_RIG_DELIVERIES);
    *at = (struct tool_rig_delivery){.output = *output};
    at->output.nspace = NULL;
    if (output->len_bytes > 0)
        memcpy(at->mem, output->mem,
               output->len_bytes < sizeof(at->mem) ? output->len_bytes
                                                   : sizeof(at->mem) - 1);
    free(output->block);
    tool_rig.room -= 1;
    if (tool_rig.on_delivery != NULL)
        tool_rig.on_delivery(output);
    return 0;
}

/* --- the door */

static int dial(void *arg)
{
    int fds[2];

    (void)arg;
    if (tool_rig.is_busy) {
        tool_rig.is_busy = false;
        errno = EAGAIN;
        return -1;
    }
    assert_true(tool_rig.count < TOOL_RIG_DOORS);
    assert_int_equal(socketpair(AF_UNIX,
                                SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
                                0, fds),
                     0);
    tool_rig.doors[tool_rig.count++] = fds[1];
    return fds[0];
}

static bool has_said(const void *arg)
{
    const unsigned *door = arg;
    struct pollfd poll_fd = {.events = POLLIN};

    if (*door >= tool_rig.count)
        return false;
    poll_fd.fd = tool_rig.doors[*door];
    return poll(&poll_fd, 1, 0) == 1;
}

void tool_rig_run(bool (*is_true)(const void *arg), const void *arg)
{
    rig_run_until_true(tool_rig.way.base, is_true, arg);
}

static bool is_heard(const void *arg)
{
    const unsigned *door = arg;
    int unread = 0;

    assert_int_equal(ioctl(tool_rig.doors[*door], SIOCOUTQ, &unread), 0);
    return unread == 0;
}

void tool_rig_until_heard(unsigned door)
{
    tool_rig_run(is_heard, &door);
}

void tool_rig_settle(void)
{
    for (int i = 0; i < 20; i++)
        event_base_loop(tool_rig.way.base, EVLOOP_NONBLOCK);
}

bool tool_rig_is_silent(unsigned door)
{
    tool_rig_settle();
    return !has_said(&door);
}

struct job_door tool_rig_hear(unsigned door)
{
    static uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct job_door msg;
    ssize_t got;

    tool_rig_run(has_said, &door);
    do /* a session that leaves bytes unread causes an error first */
        got = recv(tool_rig.doors[door], mem, sizeof(mem), 0);
    while (got < 0 && errno == ECONNRESET);
    if (got <= 0)
        return (struct job_door){.kind = 0};
    assert_int_equal(job_door_decode(ov_rd_init(mem, (size_t)got), &msg), 0);
    return msg;
}

void tool_rig_say(unsigned door, const struct job_door *msg)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    job_door_encode(&wr, msg);
    assert_false(wr.bad);
    assert_true(send(tool_rig.doors[door], mem, (size_t)(wr.at - mem), 0) > 0);
}

void tool_rig_output(unsigned door, uint32_t number, uint8_t channel,
                     const char *text, bool is_end)
{
    tool_rig_say(door,
                 &(struct job_door){
                     .kind = JOB_DOOR_OUTPUT,
                     .first = number,
                     .channel = channel,
                     .is_end = is_end,
                     .rest = ov_rd_init((const uint8_t *)text, strlen(text))});
}

void tool_rig_hang_up(unsigned door)
{
    shutdown(tool_rig.doors[door], SHUT_RDWR);
}

void tool_rig_close(unsigned door)
{
    close(tool_rig.doors[door]);
    tool_rig.doors[door] = -1;
}

bool tool_rig_is_read(unsigned door, uint32_t number)
{
    static uint8_t bytes[JOB_DOOR_REST_MAX], mem[JOB_DOOR_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    bool is_read = true;

    job_door_encode(
        &wr, &(struct job_door){.kind = JOB_DOOR_OUTPUT,
                                .first = number,
                                .channel = 1,
                                .rest = ov_rd_init(bytes, sizeof(bytes))});
    for (unsigned i = 0; is_read && i < 16; i++) {
        is_read = send(tool_rig.doors[door], mem, (size_t)(wr.at - mem), 0) > 0;
        tool_rig_settle();
    }
    return is_read;
}

/* --- jobs */

static void on_watched(void *arg)
{
    (void)arg;
    tool_rig.watched++;
}

static void on_named(void *arg, const struct px_lib_name *name)
{
    (void)arg;
    tool_rig.named = name != NULL ? *name : (struct px_lib_name){.rank = 1};
}

static void on_end(void *arg, const char *why)
{
    (void)arg;
    (void)why;
    tool_rig.ended++;
}

static void on_word(void *arg, const struct job_door *msg)
{
    (void)arg;
    if (tool_rig.on_word != NULL)
        tool_rig.on_word(msg);
}

static bool is_watched(const void *arg)
{
    (void)arg;
    return tool_rig.watched > 0;
}

void tool_rig_watch(void)
{
    static const struct px_jobs_events events = {.on_watched = on_watched,
                                                 .on_named = on_named,
                                                 .on_word = on_word,
                                                 .on_end = on_end};
    static const struct job_door jobs[] = {
        {.kind = JOB_DOOR_BEGUN,
         .first = 10,
         .count = 4,
         .channels = 6,
         .text = "one"},
        {.kind = JOB_DOOR_BEGUN,
         .first = 20,
         .count = 2,
         .channels = 14,
         .text = "two"},
        {.kind = JOB_DOOR_BEGUN,
         .first = 30,
         .count = 2,
         .channels = 6,
         .is_dvm = true,
         .text = "dvm"},
        {.kind = JOB_DOOR_WATCHED},
    };

    assert_int_equal(px_jobs_open(&tool_rig.way, &events, NULL, &tool_rig.jobs),
                     0);
    assert_int_equal(tool_rig_hear(0).kind, JOB_DOOR_HELLO);
    assert_int_equal(tool_rig_hear(0).kind, JOB_DOOR_WATCH);
    for (unsigned i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
        tool_rig_say(0, &jobs[i]);
    tool_rig_run(is_watched, NULL);
}

void tool_rig_attach(unsigned door, const char *name)
{
    const struct px_jobs_entry *job = px_jobs_find(tool_rig.jobs, name);
    struct job_door msg;

    assert_int_equal(tool_rig_hear(door).kind, JOB_DOOR_HELLO);
    msg = tool_rig_hear(door);
    assert_int_equal(msg.kind, JOB_DOOR_ATTACH);
    assert_string_equal(msg.text, name);
    tool_rig_say(
        door, &(struct job_door){.kind = JOB_DOOR_WELCOME, .text = "session"});
    msg = (struct job_door){.kind = JOB_DOOR_JOB,
                            .first = job->base,
                            .count = job->size,
                            .channels = job->channels,
                            .push_bytes = 64};
    snprintf(msg.text, sizeof(msg.text), "%s", name);
    tool_rig_say(door, &msg);
}

void tool_rig_begin(void)
{
    memset(&tool_rig, 0, sizeof(tool_rig));
    tool_rig.room = TOOL_RIG_DELIVERIES;
    tool_rig.way.base = event_base_new();
    tool_rig.way.dial = dial;
}

void tool_rig_end(void)
{
    px_jobs_close(tool_rig.jobs);
    for (unsigned i = 0; i < tool_rig.count; i++)
        if (tool_rig.doors[i] >= 0)
            close(tool_rig.doors[i]);
    event_base_free(tool_rig.way.base);
}
