/* Several who push to one stream: each byte goes to those whom its writer has
 * named, however the others name theirs meanwhile. */
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
};

/* A process, and what comes to it. */
struct reader {
    bool is_named; /* by the message that came last */
    char text[TEXT_BYTES];
};

static struct carrier {
    struct job_streams *in;
    struct job job;
    uint32_t room;
    struct ov_buf buf;
    uint8_t mem[BUFFER_BYTES];
    struct reader *readers; /* owned [PROCS]; NULL: all is said in words */
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

static struct ov_buf *frame(void *arg, uint32_t stream, uint32_t beside)
{
    (void)arg;
    (void)stream;
    return carrier.room > beside ? &carrier.buf : NULL;
}

/* As a node does. */
static void deliver(struct reader *readers, const uint8_t *mem,
                    uint32_t len_bytes)
{
    struct ov_push push;

    assert_int_equal(ov_push_decode(mem, len_bytes, &push), 0);
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

/* "<0-2,5=text", with "new:", "more:" and "close:" where they are said. */
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

static void send(void *arg, uint32_t stream, struct ov_buf *buf,
                 uint32_t len_bytes, uint32_t flags)
{
    const uint8_t *mem = buf->mem + OV_DOWN_HEAD_BYTES;

    (void)arg;
    (void)stream;
    assert_true(carrier.room > 0);
    carrier.room--;
    assert_int_equal(flags, OV_DOWN_SOME);
    assert_true(len_bytes <= PUSH_BYTES);
    if (carrier.readers != NULL)
        deliver(carrier.readers, mem, len_bytes);
    else
        say_push(mem, len_bytes);
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
    assert_int_equal(stream, JOB_STREAM_PUSHED);
    if (carrier.readers == NULL)
        say("pushed:%u", (unsigned)writer);
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

/* The stream is not open yet. */
static void begin_closed(uint32_t room)
{
    static const struct job_streams_events events = {
        .frame = frame,
        .send = send,
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
    carrier.buf.mem = carrier.mem;
    carrier.room = room;
    assert_int_equal(job_streams_open(&cfg, &carrier.in), 0);
}

static void begin(uint32_t room)
{
    begin_closed(room);
    job_streams_open_stream(carrier.in, JOB_STREAM_PUSHED);
}

static void end(void)
{
    job_streams_close(carrier.in);
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
    job_streams_push(carrier.in, JOB_STREAM_PUSHED, writer, mem,
                     (uint32_t)(wr.at - mem));
}

/* To a range of processes; none where it ends before it begins. */
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
    begin(9);
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

/* Another one pushes while it is being named; it has no room in the message
 * behind that. Nobody waits for what names it anew. */
static void a_large_set_is_named_anew_before_its_push(void **state)
{
    static const struct topo_range ranges[] = {{1, 1}, {3, 3}, {5, 5},
                                               {7, 7}, {9, 9}, {11, 11}};

    (void)state;
    begin(9);
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

/* Also a set that went into a stream that nobody had heard of. */
static void a_set_that_was_dropped_is_named_anew(void **state)
{
    (void)state;
    begin_closed(9);
    assert_string_equal(push_by(3, OV_PUSH_NEW, 7, 8, "x"), "pushed:3");
    job_streams_open_stream(carrier.in, JOB_STREAM_PUSHED);
    assert_string_equal(push_by(3, 0, 1, 0, "y"), "<new:7-8=y pushed:3");
    job_streams_leave(carrier.in, JOB_STREAM_PUSHED, 3);
    job_streams_leave(carrier.in, JOB_STREAM_PUSHED, 3);
    assert_string_equal(push_by(3, 0, 1, 0, "z"), "<new:=z pushed:3");
    end();
}

/* --- several writers at random */

enum { WRITERS = 4, PUSHES = 400 };

/* What a writer has named, and whether that goes on. */
static struct named {
    bool has[PROCS];
    uint32_t next; /* the first process that may be named; 0: it is whole */
    uint32_t count;
} named[WRITERS];

/* Ranges behind those of before, with a gap between each two. */
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

/* One push of a writer; its text goes to what that has named. */
static void push_some(struct chance *chance, uint32_t writer,
                      struct reader *want)
{
    struct named *of = &named[writer];
    const bool goes_on = of->next > 0;
    struct topo_range ranges[3];
    uint16_t flags = 0, count = 0;
    char text[16] = "";

    if (!goes_on && (of->count == 0 || chance_is(chance, 30))) {
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
    write_push(writer + 1, flags, ranges, count, text);
}

/* Room and pumps come when they like. */
static void each_byte_comes_to_those_whom_its_writer_named(void **state)
{
    struct chance chance = chance_start(20261127);

    (void)state;
    for (unsigned round = 0; round < 50; round++) {
        struct reader *want = calloc(PROCS, sizeof(*want));

        begin(0);
        carrier.readers = calloc(PROCS, sizeof(*carrier.readers));
        assert_non_null(want);
        assert_non_null(carrier.readers);
        memset(named, 0, sizeof(named));
        for (unsigned i = 0; i < PUSHES; i++) {
            push_some(&chance, chance_in(&chance, 0, WRITERS - 1), want);
            if (chance_is(&chance, 50))
                (void)more_room(chance_in(&chance, 0, 4));
        }
        (void)more_room(100 * PUSHES);
        for (unsigned i = 0; i < PROCS; i++)
            assert_string_equal(carrier.readers[i].text, want[i].text);
        assert_true(strlen(want[2].text) > 0);
        free(want);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_holds_for_its_writer_alone),
        cmocka_unit_test(a_large_set_is_named_anew_before_its_push),
        cmocka_unit_test(a_set_that_was_dropped_is_named_anew),
        cmocka_unit_test(each_byte_comes_to_those_whom_its_writer_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
