/* The input of several writers for the stdin of processes, and its way into the
 * streams: a carrier with limited room in each stream records what it is
 * sent. */
#include "job/streams.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "job/job.h"
#include "overlay/base/buf.h"
#include "overlay/control.h"
#include "overlay/wire/frame.h"
#include "overlay/wire/push.h"

enum { BUFFERS = 4, BUFFER_BYTES = 256, STREAMS_END = 3 };

static struct carrier {
    struct job_streams *in;
    struct job job;
    uint32_t room[STREAMS_END];
    struct ov_buf bufs[BUFFERS];
    uint8_t mem[BUFFERS][BUFFER_BYTES];
    struct ov_buf *reading;
    uint32_t lacks; /* how many of the next calls find no buffer */
    bool pumps;     /* the carrier pumps from within its send function */
    char words[4096];
} carrier;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    size_t len = strlen(carrier.words);
    va_list args;

    if (len > 0)
        carrier.words[len++] = ' ';
    va_start(args, format);
    vsnprintf(carrier.words + len, sizeof(carrier.words) - len, format, args);
    va_end(args);
}

/* Returns what was sent since the last call, as words. */
static const char *said(void)
{
    static char words[sizeof(carrier.words)];

    memcpy(words, carrier.words, sizeof(words));
    carrier.words[0] = '\0';
    return words;
}

/* --- the carrier */

static struct ov_buf *frame(void *arg, uint32_t stream, uint32_t beside)
{
    (void)arg;
    if (carrier.room[stream] <= beside)
        return NULL;
    if (carrier.lacks > 0) {
        carrier.lacks--;
        return NULL;
    }
    for (unsigned i = 0; i < BUFFERS; i++) {
        if (carrier.bufs[i].refs == 0) {
            carrier.bufs[i].refs = 1;
            return &carrier.bufs[i];
        }
    }
    fail_msg("buffers are lost");
    return NULL;
}

/* Writes a push as "1<0-2,5=text", with "new:", "more:" and "close:" before the
 * ranges where it has these flags. */
static void say_push(uint32_t stream, const uint8_t *mem, uint32_t len_bytes)
{
    struct ov_push push;
    char ranges[128] = "";

    assert_int_equal(ov_push_decode(mem, len_bytes, &push), 0);
    for (unsigned i = 0; i < push.ranges; i++) {
        struct topo_range range = ov_push_range(&push);
        size_t len = strlen(ranges);

        snprintf(ranges + len, sizeof(ranges) - len, "%s%u-%u",
                 i > 0 ? "," : "", range.first, range.last);
    }
    say("%u<%s%s%s%s=%.*s", stream,
        (push.flags & OV_PUSH_NEW) != 0 ? "new:" : "",
        (push.flags & OV_PUSH_MORE) != 0 ? "more:" : "",
        (push.flags & OV_PUSH_CLOSE) != 0 ? "close:" : "", ranges,
        (int)push.len_bytes, (const char *)mem + push.off_bytes);
}

static void send(void *arg, uint32_t stream, struct ov_buf *buf,
                 uint32_t len_bytes, uint32_t flags)
{
    const uint8_t *mem = buf->mem + OV_DOWN_HEAD_BYTES;

    (void)arg;
    assert_true(carrier.room[stream] > 0);
    carrier.room[stream]--;
    if (flags == OV_DOWN_SOME)
        say_push(stream, mem, len_bytes);
    else if (flags == OV_DOWN_END)
        say("%u.", stream);
    else
        say("%u:%.*s", stream, (int)len_bytes, (const char *)mem);
    assert_int_equal(buf->refs, 1);
    buf->refs = 0;
    if (carrier.pumps)
        job_streams_pump(carrier.in);
}

static void read_own(void *arg, struct ov_buf *buf)
{
    (void)arg;
    assert_null(carrier.reading);
    carrier.reading = buf;
    say("read");
}

static void opened(void *arg, const uint8_t *body, uint32_t len_bytes)
{
    struct ov_rd rd = ov_rd_init(body, len_bytes);
    struct topo_range items[OV_OPEN_RANGES_MAX];
    struct topo_ranges nodes;
    struct ov_open open;
    char list[2048];

    (void)arg;
    assert_int_equal(ov_open_decode(&rd, &open), 0);
    topo_ranges_init(&nodes, items, OV_OPEN_RANGES_MAX);
    for (unsigned i = 0; i < open.ranges; i++)
        assert_int_equal(topo_ranges_add(&nodes, ov_open_range(&rd)), 0);
    topo_ranges_format(&nodes, list, sizeof(list));
    say("open:%u*%u@%s", open.stream, open.window, list);
}

static void pushed(void *arg, uint32_t stream, uint32_t writer)
{
    (void)arg;
    assert_int_equal(writer, 0);
    if (stream == JOB_STREAM_STDIN)
        say("pushed");
    else
        say("pushed:%u", (unsigned)stream);
}

static const struct job_streams_events events = {
    .frame = frame,
    .send = send,
    .read = read_own,
    .opened = opened,
    .pushed = pushed,
};

/* --- events */

/* Six processes, on nodes 5, 2, 2, 3, 3 and 1. */
#define RANKS                                                                  \
    "open-ms 0\nlinger-ms 0\n"                                                 \
    "places 1 1 5\nplaces 2 3 2\nplaces 4 4 1\n"                               \
    "app\nranks 1 1 1 0\nranks 2 3 2 1\nranks 4 4 1 5\narg a\n"
#define NO_READERS "job 0 6 4\n" RANKS
#define READERS    "job 0 6 4\nstdin 1 2\nstdin 5 5\n" RANKS

static void carrier_open(const char *text, bool is_kept)
{
    const struct job_streams_cfg cfg = {
        .job = &carrier.job,
        .nodes_count = 5,
        .window = 4,
        .push_bytes = 64,
        .is_kept = is_kept,
        .events = &events,
    };
    char *copy = strdup(text);

    memset(&carrier, 0, sizeof(carrier));
    for (unsigned i = 0; i < BUFFERS; i++)
        carrier.bufs[i].mem = carrier.mem[i];
    assert_non_null(copy);
    assert_int_equal(job_decode(copy, strlen(copy), &carrier.job), 0);
    free(copy);
    assert_int_equal(job_streams_open(&cfg, &carrier.in), 0);
}

/* Opens a carrier with the stream of the run's own job. */
static void carrier_begin(uint32_t room)
{
    carrier_open(READERS, false);
    carrier.room[JOB_STREAM_STDIN] = room;
    job_streams_open_stream(carrier.in, JOB_STREAM_STDIN);
    said();
}

static void carrier_close(void)
{
    struct ov_buf *buf = job_streams_ended(carrier.in);

    assert_ptr_equal(buf, carrier.reading);
    job_streams_close(carrier.in);
    job_fini(&carrier.job);
    for (unsigned i = 0; i < BUFFERS; i++)
        assert_int_equal(carrier.bufs[i].refs, &carrier.bufs[i] == buf);
}

static const char *pump(void)
{
    job_streams_pump(carrier.in);
    return said();
}

/* Makes room for this many more frames. */
static const char *more_room(uint32_t stream, uint32_t frames)
{
    carrier.room[stream] += frames;
    return pump();
}

/* The launcher's stdin has this text, or is at its end. */
static const char *input(const char *text)
{
    struct ov_buf *buf = carrier.reading;

    assert_non_null(buf);
    memcpy(buf->mem + OV_DOWN_HEAD_BYTES, text, strlen(text));
    carrier.reading = NULL;
    job_streams_filled(carrier.in, (uint32_t)strlen(text));
    return pump();
}

static const char *input_end(void)
{
    struct ov_buf *buf = job_streams_ended(carrier.in);

    assert_ptr_equal(buf, carrier.reading);
    if (buf != NULL)
        buf->refs = 0;
    carrier.reading = NULL;
    return pump();
}

/* Pushes to a range of processes; to none when the range ends before it
 * begins. */
static const char *push_to(uint32_t stream, uint16_t flags, uint32_t first,
                           uint32_t last, const char *text)
{
    struct topo_range range = {first, last};
    uint8_t mem[64];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    ov_push_encode(&wr, flags, &range, first <= last);
    ov_wr_bytes(&wr, text, strlen(text));
    assert_false(wr.bad);
    job_streams_push(carrier.in, stream, 0, mem, (uint32_t)(wr.at - mem));
    return pump();
}

static const char *push(uint16_t flags, uint32_t first, uint32_t last,
                        const char *text)
{
    return push_to(JOB_STREAM_STDIN, flags, first, last, text);
}

static const char *expect(bool are_there)
{
    job_streams_expect(carrier.in, are_there);
    return pump();
}

/* --- tests */

/* One stream is for nodes with readers, the other one for all nodes, once a job
 * asks for it. */
static void nodes_hear_of_a_stream_once(void **state)
{
    (void)state;
    carrier_open(READERS, false);
    job_streams_open_stream(carrier.in, JOB_STREAM_STDIN);
    assert_string_equal(said(), "open:1*4@1-2");
    job_streams_open_stream(carrier.in, JOB_STREAM_PUSHED);
    job_streams_open_stream(carrier.in, JOB_STREAM_PUSHED);
    assert_string_equal(said(), "open:2*4@1-5");
    carrier_close();
}

/* There are 300 readers with a node between each two: the message has room for
 * all ranges but one, so one gap is closed, and at the end all gaps. */
static void too_many_readers_are_told_in_coarser_ranges(void **state)
{
    (void)state;
    carrier_open("job 0 600 600\nopen-ms 0\nlinger-ms 0\n"
                 "app\nranks 1 600 1 0\narg a\n",
                 false);
    for (uint32_t rank = 0; rank < 600; rank += 2)
        assert_int_equal(
            job_add_reader(&carrier.job, (struct topo_range){rank, rank}), 0);
    job_streams_open_stream(carrier.in, JOB_STREAM_STDIN);
    assert_memory_equal(carrier.words, "open:1*4@1,3,5,7,", 17);
    assert_string_equal(strrchr(carrier.words, ','), ",511-599");
    carrier_close();
}

/* The next frame is read before this one is sent, when there is room for
 * both. */
static void input_is_read_as_there_is_room(void **state)
{
    (void)state;
    carrier_begin(0);
    assert_string_equal(pump(), "");
    assert_string_equal(more_room(1, 2), "read");
    assert_string_equal(input("a"), "read 1:a");
    assert_string_equal(input("b"), "1:b");
    assert_string_equal(more_room(1, 1), "read");
    assert_string_equal(input("c"), "1:c");
    assert_int_equal(job_streams_sent(carrier.in), 3);
    carrier_close();
}

static void the_end_of_input_is_that_of_the_stream(void **state)
{
    (void)state;
    carrier_begin(2);
    assert_string_equal(pump(), "read");
    assert_string_equal(input("a"), "read 1:a");
    assert_string_equal(input_end(), "1.");
    assert_string_equal(more_room(1, 4), "");
    carrier_close();
}

/* However many pushes wait: input that is being read can be sent as soon as it
 * is read. */
static void a_push_leaves_room_for_what_is_being_read(void **state)
{
    (void)state;
    carrier_begin(1);
    assert_string_equal(pump(), "read");
    assert_string_equal(push(OV_PUSH_NEW, 1, 1, "x"), "");
    assert_string_equal(push(0, 1, 0, "y"), "");
    assert_string_equal(more_room(1, 1), "1<new:1-1=x pushed");
    assert_string_equal(input("a"), "1:a");
    assert_string_equal(more_room(1, 2), "read 1<=y pushed");
    carrier_close();
}

/* The input has its turn first, so neither input nor pushes stop the other. */
static void input_and_pushes_take_turns_in_little_room(void **state)
{
    (void)state;
    carrier_begin(1);
    assert_string_equal(pump(), "read");
    assert_string_equal(push(OV_PUSH_NEW, 1, 1, "x"), "");
    assert_string_equal(input("a"), "1:a");
    assert_string_equal(more_room(1, 1), "read");
    assert_string_equal(input_end(), "1<new:1-1=x pushed");
    assert_string_equal(more_room(1, 1), "1.");
    carrier_close();
}

static void there_is_no_end_while_somebody_pushes(void **state)
{
    (void)state;
    carrier_begin(1);
    assert_string_equal(expect(true), "read");
    assert_false(job_streams_is_held(carrier.in));
    assert_string_equal(input_end(), "");
    assert_true(job_streams_is_held(carrier.in));
    assert_string_equal(push(OV_PUSH_NEW, 1, 1, "x"), "1<new:1-1=x pushed");
    assert_string_equal(push(0, 1, 0, "y"), "");
    assert_string_equal(expect(false), "");
    assert_false(job_streams_is_held(carrier.in));
    assert_string_equal(more_room(1, 1), "1<=y pushed");
    assert_string_equal(more_room(1, 1), "1.");
    carrier_close();
}

static void the_end_is_not_told_where_stdin_is_kept(void **state)
{
    (void)state;
    carrier_open(READERS, true);
    job_streams_open_stream(carrier.in, JOB_STREAM_STDIN);
    said();
    assert_string_equal(more_room(1, 4), "read");
    assert_string_equal(input_end(), "");
    assert_string_equal(push(OV_PUSH_NEW, 1, 1, "x"), "1<new:1-1=x pushed");
    carrier_close();
}

static void pushes_behind_the_end_are_dropped_and_told(void **state)
{
    (void)state;
    carrier_begin(1);
    assert_string_equal(pump(), "read");
    assert_string_equal(input_end(), "1.");
    assert_string_equal(more_room(1, 4), "");
    assert_string_equal(push(OV_PUSH_NEW, 1, 1, "x"), "pushed");
    carrier_close();
}

/* Pushes that wait and pushes that come are refused; the launcher's own input
 * goes on. */
static void pushes_that_are_refused_are_dropped_and_told(void **state)
{
    (void)state;
    carrier_begin(1);
    assert_string_equal(pump(), "read");
    assert_string_equal(push(OV_PUSH_NEW, 1, 9, "x"), "");
    assert_string_equal(push(0, 1, 0, "y"), "");
    job_streams_refuse(carrier.in);
    assert_string_equal(pump(), "pushed pushed");
    assert_string_equal(push(0, 1, 0, "z"), "pushed");
    assert_string_equal(input("a"), "1:a");
    carrier_close();
}

static void a_push_to_a_job_without_readers_is_dropped(void **state)
{
    (void)state;
    carrier_open(NO_READERS, false);
    assert_string_equal(push(OV_PUSH_NEW, 1, 1, "x"), "pushed");
    carrier_close();
}

/* The push waits like all input, because the job was not told yet. */
static void a_push_before_the_stream_is_open_waits(void **state)
{
    (void)state;
    carrier_open(READERS, false);
    assert_string_equal(push(OV_PUSH_NEW, 1, 1, "x"), "");
    assert_string_equal(more_room(1, 1), "");
    carrier.room[JOB_STREAM_STDIN] = 2;
    job_streams_open_stream(carrier.in, JOB_STREAM_STDIN);
    assert_string_equal(pump(), "open:1*4@1-2 read 1<new:1-1=x pushed");
    carrier_close();
}

static void a_push_to_other_jobs_has_a_stream_of_its_own(void **state)
{
    (void)state;
    carrier_begin(0);
    assert_string_equal(push_to(2, OV_PUSH_NEW, 7, 8, "x"), "pushed:2");
    job_streams_open_stream(carrier.in, JOB_STREAM_PUSHED);
    said();
    assert_string_equal(push_to(2, OV_PUSH_NEW, 7, 8, "y"), "");
    assert_string_equal(push(OV_PUSH_NEW, 1, 1, "z"), "");
    assert_string_equal(more_room(2, 1), "2<new:7-8=y pushed:2");
    carrier_close();
}

/* All buffers are under way; the end of the input never overtakes what
 * waits. */
static void what_has_no_buffer_waits(void **state)
{
    (void)state;
    carrier_begin(3);
    carrier.lacks = 2;
    assert_string_equal(push(OV_PUSH_NEW, 1, 1, "x"), "");
    assert_string_equal(pump(), "read 1<new:1-1=x pushed");
    carrier.lacks = 2;
    assert_string_equal(push(0, 1, 0, "y"), "");
    assert_string_equal(input_end(), "");
    carrier.lacks = 0;
    assert_string_equal(pump(), "1<=y pushed 1.");
    carrier_close();
}

/* Nothing is sent twice, or before something that came earlier. */
static void the_carrier_may_pump_while_it_sends(void **state)
{
    (void)state;
    carrier_begin(1);
    pump();
    push(OV_PUSH_NEW, 1, 1, "x");
    push(0, 1, 0, "y");
    carrier.pumps = true;
    carrier.room[JOB_STREAM_STDIN] = 5;
    assert_string_equal(input("a"), "read 1:a 1<new:1-1=x 1<=y pushed pushed");
    push(0, 1, 0, "z");
    carrier.room[JOB_STREAM_STDIN] = 1;
    said();
    assert_string_equal(push(0, 1, 0, "z"), "");
    carrier.room[JOB_STREAM_STDIN] = 2;
    assert_string_equal(input_end(), "1<=z 1. pushed");
    carrier_close();
}

/* The greatest count that one of the readers took is not left for the next
 * program that reads the input; the count never exceeds the input. */
static void what_nobody_took_is_known_when_all_readers_are_over(void **state)
{
    (void)state;
    for (uint64_t most = 4; most <= 9; most += 5) {
        carrier_begin(2);
        pump();
        input("abcdef");
        job_streams_took(carrier.in, 1, 2);
        job_streams_took(carrier.in, 0, 5); /* the process is no reader */
        job_streams_took(carrier.in, 5, most);
        assert_int_equal(job_streams_taken(carrier.in), 6);
        job_streams_took(carrier.in, 2, 0);
        assert_int_equal(job_streams_taken(carrier.in), most < 6 ? most : 6);
        carrier_close();
    }
}

/* At the end of a run pushes that wait are freed, and not reported. */
static void what_waits_goes_with_the_streams(void **state)
{
    (void)state;
    carrier_begin(0);
    assert_string_equal(push(OV_PUSH_NEW, 1, 1, "x"), "");
    assert_string_equal(push(OV_PUSH_NEW, 2, 2, "y"), "");
    carrier_close();
    assert_string_equal(said(), "");
    job_streams_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_hear_of_a_stream_once),
        cmocka_unit_test(too_many_readers_are_told_in_coarser_ranges),
        cmocka_unit_test(input_is_read_as_there_is_room),
        cmocka_unit_test(the_end_of_input_is_that_of_the_stream),
        cmocka_unit_test(a_push_leaves_room_for_what_is_being_read),
        cmocka_unit_test(input_and_pushes_take_turns_in_little_room),
        cmocka_unit_test(there_is_no_end_while_somebody_pushes),
        cmocka_unit_test(the_end_is_not_told_where_stdin_is_kept),
        cmocka_unit_test(pushes_behind_the_end_are_dropped_and_told),
        cmocka_unit_test(pushes_that_are_refused_are_dropped_and_told),
        cmocka_unit_test(a_push_to_a_job_without_readers_is_dropped),
        cmocka_unit_test(a_push_before_the_stream_is_open_waits),
        cmocka_unit_test(a_push_to_other_jobs_has_a_stream_of_its_own),
        cmocka_unit_test(what_has_no_buffer_waits),
        cmocka_unit_test(the_carrier_may_pump_while_it_sends),
        cmocka_unit_test(what_nobody_took_is_known_when_all_readers_are_over),
        cmocka_unit_test(what_waits_goes_with_the_streams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
