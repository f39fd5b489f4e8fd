/* What the launcher sends down, with a hub whose room the test sets. Words:
 * "0:KIND" is a message of stream 0, "1:text" a frame of stdin, "1." the end of
 * stdin; all other words are events. */
#include "config.h"

#include "endpoints/run/down.h"

#include "tests/unit/rig.h"

#include <errno.h>
#include <stdio.h>

#include "endpoints/hub/hub.h"
#include "endpoints/run/orders.h"
#include "job/job.h"
#include "job/order.h"
#include "job/session.h"
#include "overlay/base/err.h"
#include "overlay/control.h"
#include "overlay/wire/push.h"

enum { FRAME_BYTES = 1024, STREAMS_END = 3, WORDS_BYTES = 4096 };

static struct fixture {
    struct event_base *base;
    struct job_session session;
    struct job job;
    struct run_down *down;
    uint32_t room[STREAMS_END];
    uint64_t head, taken, lead; /* positions of the stream in the tree */
    unsigned bufs;              /* how many buffers are in use */
    unsigned ends, errors;
    char words[WORDS_BYTES];
} fx;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    size_t len = strlen(fx.words);
    va_list args;

    if (len > 0)
        fx.words[len++] = ' ';
    va_start(args, format);
    vsnprintf(fx.words + len, sizeof(fx.words) - len, format, args);
    va_end(args);
}

static const char *said(void)
{
    static char words[WORDS_BYTES];

    memcpy(words, fx.words, sizeof(words));
    fx.words[0] = '\0';
    return words;
}

/* --- functions that replace the hub */

uint32_t ep_hub_down_room(const struct ep_hub *hub, uint32_t stream)
{
    assert_ptr_equal(hub, &fx);
    return fx.room[stream];
}

struct ov_node_view ep_hub_look(const struct ep_hub *hub, uint32_t index,
                                uint32_t stream)
{
    assert_ptr_equal(hub, &fx);
    assert_int_equal(index, 0);
    assert_int_equal(stream, JOB_STREAM_STDIN);
    return (struct ov_node_view){.down_head = fx.head,
                                 .down_base = fx.taken,
                                 .down_lead = fx.lead,
                                 .down_rank = 7};
}

struct ov_buf *ep_hub_buf(struct ep_hub *hub)
{
    struct ov_buf *buf = calloc(1, sizeof(*buf) + FRAME_BYTES);

    (void)hub;
    assert_non_null(buf);
    buf->mem = (uint8_t *)(buf + 1);
    buf->refs = 1;
    fx.bufs++;
    return buf;
}

void ep_hub_put(struct ep_hub *hub, struct ov_buf *buf)
{
    (void)hub;
    free(buf);
    fx.bufs--;
}

void ep_hub_down(struct ep_hub *hub, uint32_t stream, struct ov_buf *buf,
                 uint32_t payload_bytes, uint32_t flags)
{
    const uint8_t *mem = buf->mem + OV_DOWN_HEAD_BYTES;
    struct ov_control control;

    assert_true(fx.room[stream] > 0);
    fx.room[stream]--;
    if (stream == 0) {
        assert_int_equal(ov_control_decode(mem, payload_bytes, &control), 0);
        say("0:%u", control.kind);
    } else if (flags == OV_DOWN_END) {
        say("%u.", stream);
    } else if (flags == OV_DOWN_SOME) {
        say("%u<%u", stream, payload_bytes);
    } else {
        say("%u:%.*s", stream, (int)payload_bytes, (const char *)mem);
    }
    ep_hub_put(hub, buf);
}

/* --- callbacks */

static void on_end(void *arg)
{
    assert_ptr_equal(arg, &fx);
    fx.ends++;
    say("end");
}

static void on_held(void *arg)
{
    assert_ptr_equal(arg, &fx);
    say("held");
}

static void on_pushed(void *arg, uint32_t base)
{
    assert_ptr_equal(arg, &fx);
    if (base == 0)
        say("pushed");
    else
        say("pushed:%u", (unsigned)base);
}

static void on_error(void *arg, int err)
{
    assert_ptr_equal(arg, &fx);
    assert_int_equal(err, EISDIR);
    fx.errors++;
    say("error");
}

/* --- helpers of the tests */

/* Six processes on nodes 5, 2, 2, 3, 3 and 1, of which three read stdin. */
static const char job_text[] =
    "job 0 6 4\nstdin 1 2\nstdin 5 5\nopen-ms 0\nlinger-ms 0\n"
    "places 1 1 5\nplaces 2 3 2\nplaces 4 4 1\n"
    "app\nranks 1 1 1 0\nranks 2 3 2 1\nranks 4 4 1 5\narg a\n";

static void fx_open(int input_fd)
{
    static const struct run_down_events events = {
        .on_end = on_end,
        .on_held = on_held,
        .on_pushed = on_pushed,
        .on_error = on_error,
    };
    struct run_down_cfg cfg = {
        .session = &fx.session,
        .job = &fx.job,
        .nodes_count = 5,
        .frame_bytes = FRAME_BYTES,
        .window = 4,
        .input_fd = input_fd,
        .events = &events,
        .arg = &fx,
    };
    char *copy = strdup(job_text);

    memset(&fx, 0, sizeof(fx));
    fx.session = JOB_SESSION_INIT;
    fx.base = cfg.base = event_base_new();
    assert_int_equal(job_decode(copy, strlen(copy), &fx.job), 0);
    free(copy);
    assert_int_equal(ep_run_down_open(&cfg, &fx.down), 0);
}

static void fx_hub(uint32_t room, uint32_t stream_room)
{
    fx.room[0] = room;
    fx.room[JOB_STREAM_STDIN] = fx.room[JOB_STREAM_PUSHED] = stream_room;
    ep_run_down_hub(fx.down, (struct ep_hub *)(void *)&fx);
}

static void fx_close(void)
{
    ep_run_down_close(fx.down);
    assert_int_equal(fx.bufs, 0);
    job_fini(&fx.job);
    event_base_free(fx.base);
}

static int file_of(const char *text)
{
    FILE *file = tmpfile();
    int fd;

    assert_non_null(file);
    fputs(text, file);
    rewind(file);
    fd = dup(fileno(file));
    fclose(file);
    return fd;
}

static void tell(void)
{
    assert_int_equal(ep_run_down_job(fx.down, &fx.job), 0);
    assert_int_equal(ep_run_down_stream(fx.down, JOB_STREAM_STDIN), 0);
}

static void nothing_leaves_before_there_is_a_hub_and_orders_come_first(void **s)
{
    (void)s;
    fx_open(file_of("some input"));
    tell();
    ep_run_down_pump(fx.down);
    assert_string_equal(said(), "");
    fx_hub(8, 8);
    ep_run_down_pump(fx.down);
    rig_run_until(fx.base, &fx.ends, 1);
    assert_string_equal(said(), "0:16 0:1 1:some input 1. end");
    assert_int_equal(ep_run_down_sent(fx.down), 10);
    assert_true(ep_run_orders_is_empty(ep_run_down_orders(fx.down)));
    fx_close();
}

static bool has_said(const void *words)
{
    return strcmp(fx.words, words) == 0;
}

static void what_has_no_room_waits(void **state)
{
    (void)state;
    fx_open(file_of("input"));
    tell();
    fx_hub(1, 0);
    ep_run_down_pump(fx.down);
    assert_string_equal(said(), "0:16");
    assert_false(ep_run_orders_is_empty(ep_run_down_orders(fx.down)));
    fx_hub(1, 1);
    ep_run_down_pump(fx.down);
    rig_run_until_true(fx.base, has_said, "0:1 1:input");
    said();
    fx_hub(0, 1);
    ep_run_down_pump(fx.down);
    rig_run_until(fx.base, &fx.ends, 1);
    assert_string_equal(said(), "1. end");
    fx_close();
}

/* The hub gets back the buffer that was to be filled. */
static void a_reader_that_waits_is_ended(void **state)
{
    int fds[2];

    (void)state;
    rig_wide_pipe(fds);
    fx_open(fds[0]);
    tell();
    fx_hub(8, 8);
    ep_run_down_pump(fx.down);
    assert_string_equal(said(), "0:16 0:1");
    assert_int_equal(fx.bufs, 1);
    ep_run_down_wake(fx.down);
    ep_run_down_took(fx.down, 0, 0);
    fx_close();
    close(fds[1]);
}

static void input_that_cannot_be_read_counts_as_ended(void **state)
{
    (void)state;
    fx_open(open("/", O_RDONLY | O_CLOEXEC));
    tell();
    fx_hub(8, 8);
    ep_run_down_pump(fx.down);
    rig_run_until(fx.base, &fx.ends, 1);
    assert_int_equal(fx.errors, 1);
    assert_string_equal(said(), "0:16 0:1 error 1. end");
    fx_close();
}

/* Ten bytes are read, of which readers take four at most. */
static void take_all(void)
{
    tell();
    fx_hub(8, 8);
    ep_run_down_pump(fx.down);
    rig_run_until(fx.base, &fx.ends, 1);
    ep_run_down_took(fx.down, 1, 4);
    ep_run_down_took(fx.down, 2, 0);
    ep_run_down_took(fx.down, 5, 2);
}

/* The rest of a file that an option names is not left for another program. */
static void a_file_of_its_own_is_not_given_back(void **state)
{
    int fd = file_of("some input"), other = dup(fd);

    (void)state;
    fx_open(fd);
    take_all();
    ep_run_down_give_back(fx.down);
    assert_int_equal(lseek(other, 0, SEEK_CUR), 10);
    fx_close();
    close(other);
}

static void of_its_stdin_what_nobody_took_is_given_back(void **state)
{
    int fd = file_of("some input"), kept = dup(STDIN_FILENO);

    (void)state;
    dup2(fd, STDIN_FILENO);
    fx_open(-1);
    take_all();
    ep_run_down_give_back(fx.down);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 4);
    fx_close();
    dup2(kept, STDIN_FILENO);
    close(kept);
    close(fd);
}

static void push_to(uint32_t base, uint16_t flags, const char *text)
{
    uint8_t mem[FRAME_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    const struct topo_range one = {base + 1, base + 1};

    ov_push_encode(&wr, flags, &one, flags == OV_PUSH_NEW);
    memcpy(wr.at, text, strlen(text));
    ep_run_down_push(fx.down, base, base, mem,
                     (uint32_t)(wr.at + strlen(text) - mem));
}

static void push(const char *text)
{
    push_to(0, OV_PUSH_NEW, text);
}

static bool has_no_buffer(const void *arg)
{
    (void)arg;
    return fx.bufs == 0;
}

static void who_pushes_holds_up_the_end(void **state)
{
    (void)state;
    fx_open(file_of(""));
    tell();
    fx_hub(8, 8);
    ep_run_down_pushers(fx.down, true);
    push("abc");
    assert_string_equal(said(), "0:16 0:1 1<15 pushed");
    rig_run_until_true(fx.base, has_no_buffer, NULL); /* the input ends */
    assert_string_equal(said(), "held");
    ep_run_down_pushers(fx.down, false);
    assert_string_equal(said(), "1. end");
    fx_close();
}

/* Two frames: the ten bytes that were read, and three of a push, which are in a
 * longer message. */
static void what_nodes_have_not_taken_waits(void **state)
{
    (void)state;
    fx_open(file_of("some input"));
    assert_int_equal(ep_run_down_waiting(fx.down), 0); /* there is no hub */
    tell();
    fx_hub(8, 8);
    ep_run_down_pushers(fx.down, true);
    rig_run_until_true(fx.base, has_said, "0:16 0:1 1:some input held");
    push("abc");
    fx.head = 2;
    assert_int_equal(ep_run_down_waiting(fx.down), 13);
    fx.taken = 1;
    assert_int_equal(ep_run_down_waiting(fx.down), 3);
    fx.taken = 2;
    assert_int_equal(ep_run_down_waiting(fx.down), 0);
    fx.head = fx.taken = 0; /* the stream is over */
    assert_int_equal(ep_run_down_waiting(fx.down), 0);
    fx_close();
}

/* A look names the node that is furthest behind, and says whether others have
 * taken half a window more. */
static void stdin_is_looked_at(void **state)
{
    struct run_stdin_view look;

    (void)state;
    fx_open(file_of("some input"));
    look = ep_run_down_look(fx.down); /* there is no hub */
    assert_false(look.is_open || look.is_full || look.is_uneven);
    assert_int_equal(look.rank, TOPO_NONE);
    tell();
    fx_hub(8, 8);
    ep_run_down_pushers(fx.down, true);
    rig_run_until_true(fx.base, has_said, "0:16 0:1 1:some input held");
    fx.head = 1;
    fx.lead = 1;
    look = ep_run_down_look(fx.down);
    assert_true(look.is_open && !look.is_full && !look.is_uneven);
    assert_int_equal(look.sent_bytes, 10);
    assert_int_equal(look.base, 0);
    assert_int_equal(look.rank, 7);
    fx.lead = 2;
    fx.room[JOB_STREAM_STDIN] = 0;
    look = ep_run_down_look(fx.down);
    assert_true(look.is_open && look.is_full && look.is_uneven);
    fx.head = 0; /* the stream is over */
    assert_false(ep_run_down_look(fx.down).is_open);
    fx_close();
}

/* Further jobs use their own stream. A set is named again after a push to
 * another job, and forgotten together with its job. */
static void further_jobs_have_a_stream_and_a_set_each(void **state)
{
    (void)state;
    fx_open(-1);
    assert_int_equal(ep_run_down_stream(fx.down, JOB_STREAM_PUSHED), 0);
    fx_hub(8, 8);
    fx.session.state = JOB_SESSION_RUNNING;
    ep_run_down_pump(fx.down);
    said();
    push_to(8, OV_PUSH_NEW, "abc");
    push_to(16, OV_PUSH_NEW, "abc");
    assert_string_equal(said(), "2<15 pushed:8 2<15 pushed:16");
    push_to(8, 0, "abc");
    push_to(8, 0, "abc");
    assert_string_equal(said(), "2<15 pushed:8 2<7 pushed:8");
    push_to(16, 0, "abc");
    ep_run_down_left(fx.down, 8, 8);
    push_to(8, 0, "abc");
    assert_string_equal(said(), "2<15 pushed:16 2<7 pushed:8");
    fx_close();
}

static void a_session_that_ends_takes_no_pushes(void **state)
{
    (void)state;
    fx_open(-1);
    assert_int_equal(ep_run_down_job(fx.down, &fx.job), 0);
    assert_int_equal(ep_run_down_stream(fx.down, JOB_STREAM_PUSHED), 0);
    fx_hub(8, 8);
    fx.session.state = JOB_SESSION_RUNNING;
    ep_run_down_pump(fx.down);
    assert_string_equal(said(), "0:16 0:1");
    fx.session.state = JOB_SESSION_LEAVING;
    push("abc");
    assert_string_equal(said(), "pushed");
    ep_run_down_wake(fx.down);
    ep_run_down_give_back(fx.down);
    fx_close();
}

static void nothing_leaves_when_the_session_is_over(void **state)
{
    (void)state;
    fx_open(-1);
    fx_hub(8, 8);
    fx.session.state = JOB_SESSION_OVER;
    assert_int_equal(ep_run_down_job(fx.down, &fx.job), 0);
    ep_run_orders_pump(ep_run_down_orders(fx.down));
    ep_run_down_pump(fx.down);
    assert_string_equal(said(), "");
    fx_close();
}

static void a_job_has_a_length_at_most(void **state)
{
    char *long_one = malloc(JOB_BYTES_MAX + 1);
    char *kept;

    (void)state;
    fx_open(-1);
    assert_non_null(long_one);
    memset(long_one, 'a', JOB_BYTES_MAX);
    long_one[JOB_BYTES_MAX] = '\0';
    kept = fx.job.apps[0].argv.at[0];
    fx.job.apps[0].argv.at[0] = long_one;
    assert_int_equal(ep_run_down_job(fx.down, &fx.job), OV_EFULL);
    fx.job.apps[0].argv.at[0] = kept;
    assert_true(ep_run_orders_is_empty(ep_run_down_orders(fx.down)));
    free(long_one);
    fx_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            nothing_leaves_before_there_is_a_hub_and_orders_come_first),
        cmocka_unit_test(what_has_no_room_waits),
        cmocka_unit_test(a_reader_that_waits_is_ended),
        cmocka_unit_test(input_that_cannot_be_read_counts_as_ended),
        cmocka_unit_test(a_file_of_its_own_is_not_given_back),
        cmocka_unit_test(of_its_stdin_what_nobody_took_is_given_back),
        cmocka_unit_test(who_pushes_holds_up_the_end),
        cmocka_unit_test(stdin_is_looked_at),
        cmocka_unit_test(what_nodes_have_not_taken_waits),
        cmocka_unit_test(further_jobs_have_a_stream_and_a_set_each),
        cmocka_unit_test(a_session_that_ends_takes_no_pushes),
        cmocka_unit_test(nothing_leaves_when_the_session_is_over),
        cmocka_unit_test(a_job_has_a_length_at_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
