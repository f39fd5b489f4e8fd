/* Several clients push to one stream: each byte goes to the processes that its
 * writer has named, whatever the others name in between. */
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
#include "overlay/wire/frame.h"
#include "overlay/wire/push.h"
#include "tests/unit/chance.h"

enum {
    BUFFER_BYTES = 256,
    PUSH_BYTES = 60, /* a head and seven ranges */
    PROCS = 24,
    TEXT_BYTES = 8192,
    PUSHERS = 10,
};

/* A process, and the bytes that it gets. */
struct reader {
    bool is_named; /* the last message is for this process */
    char text[TEXT_BYTES];
};

/* The set that a node knows. */
static struct {
    bool is_there, goes_on;
} at_node;

static struct carrier {
    struct job_streams *in;
    struct job job;
    uint32_t room;
    uint32_t stream;
    struct ov_buf *reading;   /* the buffer for the launcher's own input; NULL:
                               * none */
    struct reader *readers;   /* owned [PROCS]; NULL: every message is recorded
                               * as words */
    uint32_t untold[PUSHERS]; /* pushes that no reader has got yet */
    /* Lets some writers leave while a frame is sent; NULL: none leaves. */
    struct chance *leaving;
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

/* --- the carrier */

/* Frees the frame when it is sent. */
static struct ov_buf *frame(void *arg, uint32_t stream, uint32_t beside)
{
    struct ov_buf *buf;

    (void)arg;
    (void)stream;
    if (carrier.room <= beside)
        return NULL;
    buf = calloc(1, sizeof(*buf) + BUFFER_BYTES);
    assert_non_null(buf);
    buf->mem = (uint8_t *)(buf + 1);
    return buf;
}

/* Hands a frame to the readers, as a node does. */
static void deliver(struct reader *readers, const uint8_t *mem,
                    uint32_t len_bytes)
{
    struct ov_push push;

    assert_int_equal(ov_push_decode(mem, len_bytes, &push), 0);
    if ((push.flags & OV_PUSH_NEW) == 0)
        assert_true(at_node.is_there && (push.ranges == 0 || at_node.goes_on));
    at_node.is_there = true;
    at_node.goes_on = (push.flags & OV_PUSH_MORE) != 0;
    for (unsigned i = 0; i < PROCS && (push.flags & OV_PUSH_NEW) != 0; i++)
        readers[i].is_named = false;
    for (unsigned i = 0; i < push.ranges; i++) {
        struct topo_range range = ov_push_range(&push);

        for (uint32_t proc = range.first; proc <= range.last; proc++)
            readers[proc].is_named = true;
    }
    for (unsigned i = 0; i < PROCS && push.len_bytes > 0; i++) {
        size_t len = strlen(readers[i].text);

        if (!readers[i].is_named)
            continue;
        assert_true(len + push.len_bytes < TEXT_BYTES);
        memcpy(readers[i].text + len, mem + push.off_bytes, push.len_bytes);
    }
}

/* Writes a push as "<0-2,5=text", with "new:", "more:" and "close:" where it
 * has these flags. */
static void say_push(const uint8_t *mem, uint32_t len_bytes)
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
    say("<%s%s%s%s=%.*s", (push.flags & OV_PUSH_NEW) != 0 ? "new:" : "",
        (push.flags & OV_PUSH_MORE) != 0 ? "more:" : "",
        (push.flags & OV_PUSH_CLOSE) != 0 ? "close:" : "", ranges,
        (int)push.len_bytes, (const char *)mem + push.off_bytes);
}

enum { WRITERS = 4, PUSHES = 400 }; /* for random runs */

/* The processes that each writer has named, indexed by its number minus one. */
static struct named {
    bool has[PROCS];
    uint32_t next; /* the first process that may be named next; 0: the set is
                    * complete */
    uint32_t count;
} named[WRITERS];

static void leave(uint32_t writer)
{
    named[writer - 1] = (struct named){.count = named[writer - 1].count};
    job_streams_leave(carrier.in, carrier.stream, writer);
}

static void send(void *arg, uint32_t stream, struct ov_buf *buf,
                 uint32_t len_bytes, uint32_t flags)
{
    const uint8_t *mem = buf->mem + OV_DOWN_HEAD_BYTES;

    (void)arg;
    assert_int_equal(stream, carrier.stream);
    assert_true(carrier.room > 0);
    carrier.room--;
    if (flags == OV_DOWN_SOME) {
        assert_true(len_bytes <= PUSH_BYTES);
        if (carrier.readers != NULL)
            deliver(carrier.readers, mem, len_bytes);
        else
            say_push(mem, len_bytes);
    }
    free(buf);
    if (carrier.leaving != NULL && chance_is(carrier.leaving, 3))
        leave(chance_in(carrier.leaving, 1, WRITERS));
}

static void read_own(void *arg, struct ov_buf *buf)
{
    (void)arg;
    assert_null(carrier.reading);
    carrier.reading = buf;
}

static void opened(void *arg, const uint8_t *body, uint32_t len_bytes)
{
    (void)arg;
    (void)body;
    (void)len_bytes;
}

static void pushed(void *arg, uint32_t stream, uint32_t writer)
{
    (void)arg;
    assert_int_equal(stream, carrier.stream);
    assert_true(carrier.untold[writer] > 0);
    carrier.untold[writer]--;
    if (carrier.readers == NULL)
        say("pushed:%u", (unsigned)writer);
    if (carrier.leaving != NULL && chance_is(carrier.leaving, 3))
        leave(chance_in(carrier.leaving, 1, WRITERS));
}

static const char *pump(void)
{
    static char words[sizeof(carrier.words)];

    job_streams_pump(carrier.in);
    memcpy(words, carrier.words, sizeof(words));
    carrier.words[0] = '\0';
    return words;
}

static const char *more_room(uint32_t frames)
{
    carrier.room += frames;
    return pump();
}

/* Opens a carrier whose stream is not open yet. */
static void begin_closed(uint32_t stream, uint32_t room)
{
    static const struct job_streams_events events = {
        .frame = frame,
        .send = send,
        .read = read_own,
        .opened = opened,
        .pushed = pushed,
    };
    const struct job_streams_cfg cfg = {
        .job = &carrier.job,
        .nodes_count = 5,
        .window = 4,
        .push_bytes = PUSH_BYTES,
        .events = &events,
    };

    memset(&carrier, 0, sizeof(carrier));
    memset(&at_node, 0, sizeof(at_node));
    memset(named, 0, sizeof(named));
    carrier.stream = stream;
    carrier.room = room;
    carrier.job.size = PROCS;
    assert_int_equal(
        job_add_reader(&carrier.job, (struct topo_range){0, PROCS - 1}), 0);
    assert_int_equal(job_streams_open(&cfg, &carrier.in), 0);
}

static void begin(uint32_t stream, uint32_t room)
{
    begin_closed(stream, room);
    job_streams_open_stream(carrier.in, stream);
}

static void end(void)
{
    free(job_streams_ended(carrier.in));
    job_streams_close(carrier.in);
    job_fini(&carrier.job);
    free(carrier.readers);
}

static void write_push(uint32_t writer, uint16_t flags,
                       const struct topo_range *ranges, uint16_t count,
                       const char *text)
{
    uint8_t mem[PUSH_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    ov_push_encode(&wr, flags, ranges, count);
    ov_wr_bytes(&wr, text, strlen(text));
    assert_false(wr.bad);
    carrier.untold[writer]++;
    job_streams_push(carrier.in, carrier.stream, writer, mem,
                     (uint32_t)(wr.at - mem));
}

/* Pushes to a range of processes; to no range when it ends before it begins. */
static const char *push_by(uint32_t writer, uint16_t flags, uint32_t first,
                           uint32_t last, const char *text)
{
    struct topo_range range = {first, last};

    write_push(writer, flags, &range, first <= last, text);
    return pump();
}

/* --- tests */

static void a_set_holds_for_its_writer_alone(void **state)
{
    (void)state;
    begin(JOB_STREAM_PUSHED, 9);
    assert_string_equal(push_by(7, OV_PUSH_NEW, 1, 1, "a"),
                        "<new:1-1=a pushed:7");
    assert_string_equal(push_by(8, OV_PUSH_NEW, 2, 2, "b"),
                        "<new:2-2=b pushed:8");
    assert_string_equal(push_by(7, 0, 1, 0, "c"), "<new:1-1=c pushed:7");
    assert_string_equal(push_by(7, OV_PUSH_CLOSE, 1, 0, "d"),
                        "<close:=d pushed:7");
    assert_string_equal(push_by(8, OV_PUSH_CLOSE, 1, 0, ""),
                        "<new:close:2-2= pushed:8");
    end();
}

/* Another writer pushes while the set is being named, and the next message has
 * no room for the set. The message that names the set again does not count as
 * waiting. */
static void a_large_set_is_named_anew_before_its_push(void **state)
{
    static const struct topo_range ranges[] = {{1, 1}, {3, 3}, {5, 5},
                                               {7, 7}, {9, 9}, {11, 11}};

    (void)state;
    begin(JOB_STREAM_PUSHED, 9);
    write_push(7, OV_PUSH_NEW | OV_PUSH_MORE, ranges, 3, "");
    assert_string_equal(pump(), "<new:more:1-1,3-3,5-5= pushed:7");
    push_by(8, OV_PUSH_NEW, 2, 2, "b");
    write_push(7, 0, ranges + 3, 3, "a");
    assert_string_equal(pump(), "<new:more:1-1,3-3,5-5= "
                                "<7-7,9-9,11-11=a pushed:7");
    push_by(8, 0, 1, 0, "b");
    assert_string_equal(push_by(7, 0, 1, 0, "0123456789"),
                        "<new:more:1-1,3-3,5-5,7-7,9-9,11-11= "
                        "<=0123456789 pushed:7");
    end();
}

/* A writer has begun its set without any process, and continues it while the
 * set of another writer is being named, too. */
static void ranges_of_one_never_join_the_set_of_another(void **state)
{
    static const struct topo_range one = {1, 1}, five = {5, 5};

    (void)state;
    begin(JOB_STREAM_PUSHED, 9);
    write_push(8, OV_PUSH_NEW | OV_PUSH_MORE, NULL, 0, "");
    write_push(7, OV_PUSH_NEW | OV_PUSH_MORE, &one, 1, "");
    write_push(8, 0, &five, 1, "x");
    assert_string_equal(pump(), "<new:more:= pushed:8 <new:more:1-1= pushed:7 "
                                "<new:5-5=x pushed:8");
    end();
}

/* The pushes of a writer that leaves are dropped, which is reported; messages
 * that only name its set are sent or dropped, without a report. */
static void what_waits_of_one_that_has_left_goes(void **state)
{
    static const struct topo_range ranges[] = {
        {1, 1}, {3, 3}, {5, 5}, {7, 7}, {9, 9}, {11, 11}, {13, 13}};

    (void)state;
    for (unsigned refuses = 0; refuses < 2; refuses++) {
        begin(JOB_STREAM_PUSHED, 0);
        write_push(7, OV_PUSH_NEW, ranges, 7, "");
        write_push(8, OV_PUSH_NEW, ranges, 1, "b");
        write_push(7, 0, NULL, 0, "a");
        job_streams_leave(carrier.in, JOB_STREAM_PUSHED, 7);
        write_push(8, 0, NULL, 0, "c");
        if (refuses)
            job_streams_refuse(carrier.in);
        carrier.room = 9;
        assert_string_equal(
            pump(), refuses ? "pushed:7 pushed:8 pushed:7 pushed:8"
                            : "<new:1-1,3-3,5-5,7-7,9-9,11-11,13-13= pushed:7 "
                              "<new:1-1=b pushed:8 "
                              "<new:more:1-1,3-3,5-5,7-7,9-9,11-11,13-13= "
                              "<=a pushed:7 <new:1-1=c pushed:8");
        end();
    }
}

/* A set that was sent into a stream with no readers yet is named anew, too. */
static void a_set_that_was_dropped_is_named_anew(void **state)
{
    (void)state;
    begin_closed(JOB_STREAM_PUSHED, 9);
    assert_string_equal(push_by(3, OV_PUSH_NEW, 7, 8, "x"), "pushed:3");
    job_streams_open_stream(carrier.in, JOB_STREAM_PUSHED);
    assert_string_equal(push_by(3, 0, 1, 0, "y"), "<new:7-8=y pushed:3");
    job_streams_leave(carrier.in, JOB_STREAM_PUSHED, 3);
    job_streams_leave(carrier.in, JOB_STREAM_PUSHED, 3);
    assert_string_equal(push_by(3, 0, 1, 0, "z"), "<new:=z pushed:3");
    end();
}

/* --- several writers at random */

/* Draws ranges that follow the earlier ones, with a gap between each two. */
static uint16_t draw_ranges(struct chance *chance, struct named *of,
                            struct topo_range ranges[3])
{
    uint16_t count = 0;

    while (count < 3 && of->next < PROCS - 3) {
        uint32_t first = of->next + chance_in(chance, 1, 2);
        uint32_t last = first + chance_in(chance, 0, 1);

        ranges[count++] = (struct topo_range){first, last};
        of->next = last + 1;
        for (uint32_t proc = first; proc <= last; proc++)
            of->has[proc] = true;
    }
    return count;
}

/* Pushes once for a writer; its text goes to the processes that the writer has
 * named. */
static void push_some(struct chance *chance, uint32_t writer,
                      struct reader *want)
{
    struct named *of = &named[writer - 1];
    const bool goes_on = of->next > 0;
    struct topo_range ranges[3];
    uint16_t flags = 0, count = 0;
    char text[16] = "";

    if (!goes_on && chance_is(chance, 30)) {
        *of = (struct named){.count = of->count};
        flags = OV_PUSH_NEW;
    }
    if (goes_on || flags != 0) {
        count = draw_ranges(chance, of, ranges);
        if (chance_is(chance, 40))
            flags |= OV_PUSH_MORE;
        else
            of->next = 0;
    }
    if ((flags & OV_PUSH_MORE) == 0)
        snprintf(text, sizeof(text), "%u:%u ", writer, of->count++);
    for (unsigned i = 0; i < PROCS; i++) {
        if (of->has[i])
            strcat(want[i].text, text);
    }
    write_push(writer, flags, ranges, count, text);
}

/* Room, the launcher's own bytes and calls of the pump come at random. */
static void run_some(struct chance *chance, struct reader *want)
{
    for (unsigned i = 0; i < PUSHES; i++) {
        push_some(chance, chance_in(chance, 1, WRITERS), want);
        if (chance_is(chance, 50))
            (void)more_room(chance_in(chance, 0, 4));
        if (carrier.reading != NULL && chance_is(chance, 50)) {
            carrier.reading = NULL;
            job_streams_filled(carrier.in, 1);
        }
        if (chance_is(chance, 3))
            leave(chance_in(chance, 1, WRITERS));
    }
}

/* Compares the readers. When a stream refuses pushes at the end, each reader
 * has a first part of its bytes. */
static void check(const struct reader *want, bool refuses)
{
    for (unsigned i = 0; i < PROCS; i++) {
        size_t len = strlen(carrier.readers[i].text);

        assert_true(refuses || len == strlen(want[i].text));
        assert_memory_equal(carrier.readers[i].text, want[i].text, len);
    }
    for (unsigned i = 1; i <= WRITERS; i++)
        assert_int_equal(carrier.untold[i], 0);
    assert_true(strlen(want[2].text) > 0);
}

static void each_byte_comes_to_those_whom_its_writer_named(void **state)
{
    struct chance chance = chance_start(20261127);

    (void)state;
    for (unsigned round = 0; round < 100; round++) {
        struct reader *want = calloc(PROCS, sizeof(*want));
        const bool refuses = round % 4 >= 2;

        begin(round % 2 == 0 ? JOB_STREAM_PUSHED : JOB_STREAM_STDIN, 0);
        carrier.readers = calloc(PROCS, sizeof(*carrier.readers));
        assert_non_null(want);
        assert_non_null(carrier.readers);
        carrier.leaving = &chance;
        run_some(&chance, want);
        if (refuses)
            job_streams_refuse(carrier.in);
        (void)more_room(100 * PUSHES);
        check(want, refuses);
        free(want);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_holds_for_its_writer_alone),
        cmocka_unit_test(a_large_set_is_named_anew_before_its_push),
        cmocka_unit_test(ranges_of_one_never_join_the_set_of_another),
        cmocka_unit_test(what_waits_of_one_that_has_left_goes),
        cmocka_unit_test(a_set_that_was_dropped_is_named_anew),
        cmocka_unit_test(each_byte_comes_to_those_whom_its_writer_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
