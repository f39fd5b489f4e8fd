/* Signals that a tool requests: names of processes become numbers, and the
 * session's answer is the answer to the tool. */
#include "config.h"

#include "tests/unit/tool_rig.h"

#include <stdio.h>
#include <unistd.h>

#include "pmix_api/helper/describer.h"
#include "pmix_api/helper/orders.h"

enum { OWN = 6, CALLS = PX_ORDERS_MAX + 1, MANY = PX_ORDERS_RANGES_MAX };

static struct px_describer *describer;
static struct px_orders *orders;
static struct px_lib_control calls[CALLS];
static struct px_lib_name names[CALLS][8];
static unsigned made;
static char here[256];

static void on_word(const struct job_door *msg)
{
    px_describer_on_word(describer, msg);
    px_orders_on_word(orders, msg);
}

static void begin(uint32_t base, uint32_t count, const char *name)
{
    struct job_door msg = {
        .kind = JOB_DOOR_BEGUN, .first = base, .count = count};

    strcpy(msg.text, name);
    tool_rig_say(0, &msg);
    tool_rig_settle();
}

static int set_up(void **state)
{
    (void)state;
    tool_rig_begin();
    tool_rig_watch();
    if (px_describer_open(tool_rig.jobs, &describer) != 0 ||
        px_orders_open(tool_rig.jobs, describer, &orders) != 0)
        return 1;
    tool_rig.on_word = on_word;
    begin(0, OWN, "own");
    gethostname(here, sizeof(here) - 1);
    made = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    px_describer_close(describer);
    px_orders_close(orders);
    tool_rig_end();
    return 0;
}

/* Requests a signal for "one/2 own/-3": -2 means all, -3 and -5 the processes
 * of this node. The request's call is its number. */
static void order(const char *text, int signo)
{
    struct px_lib_control *call = &calls[made];
    char copy[256];

    strcpy(copy, text);
    *call = (struct px_lib_control){
        .targets = names[made], .signo = signo, .call = call};
    for (char *word = strtok(copy, " "); word != NULL;
         word = strtok(NULL, " ")) {
        struct px_lib_name *name = &names[made][call->count++];
        char *rank = strchr(word, '/');

        *rank = '\0';
        memset(name, 0, sizeof(*name));
        strcpy(name->nspace, word);
        name->rank = (uint32_t)strtol(rank + 1, NULL, 10);
    }
    made++;
    px_orders_on_control(orders, call);
}

/* Returns the messages up to a signal, as "0-3,10-11 s15". */
static const char *heard(void)
{
    static char text[512];
    struct job_door msg = tool_rig_hear(0);
    size_t len = 0;

    text[0] = '\0';
    while (msg.kind == JOB_DOOR_RANGES) {
        while (ov_rd_left(&msg.rest) > 0) {
            uint32_t first = ov_rd_u32(&msg.rest);

            len += (size_t)sprintf(text + len, "%u-%u ", first,
                                   ov_rd_u32(&msg.rest));
        }
        msg = tool_rig_hear(0);
    }
    assert_int_equal(msg.kind, JOB_DOOR_SIGNAL);
    sprintf(text + len, "s%d", msg.status);
    return text;
}

static void say_signalled(bool is_over)
{
    tool_rig_say(
        0, &(struct job_door){.kind = JOB_DOOR_SIGNALLED, .is_over = is_over});
    tool_rig_settle();
}

static void check_answer(unsigned nth, unsigned call, enum px_lib_answer answer)
{
    assert_int_equal(tool_rig.pushes, nth + 1);
    assert_ptr_equal(tool_rig.push_calls[nth], &calls[call]);
    assert_int_equal(tool_rig.push_answers[nth], answer);
}

/* Checks that the request is refused, and that the session gets no message. */
static void check_refused(const char *text, enum px_lib_answer answer)
{
    const unsigned nth = tool_rig.pushes;

    order(text, 15);
    assert_true(tool_rig_is_silent(0));
    check_answer(nth, made - 1, answer);
}

static void say_place(uint32_t first, uint32_t count, const char *host)
{
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_PLACE,
                                       .first = first,
                                       .count = count,
                                       .host = host,
                                       .text = "x"});
}

static void say_described(bool is_over)
{
    tool_rig_say(
        0, &(struct job_door){.kind = JOB_DOOR_DESCRIBED, .is_over = is_over});
    tool_rig_settle();
}

static void hear_describe(uint32_t base)
{
    struct job_door msg = tool_rig_hear(0);

    assert_int_equal(msg.kind, JOB_DOOR_DESCRIBE);
    assert_int_equal(msg.base, base);
}

/* Each process gets the signal once, in ascending order over all jobs; the
 * answers are the session's, in order. */
static void in_order(void **state)
{
    (void)state;
    order("two/-2 own/3 one/1 own/1 own/2 own/3", 15);
    assert_string_equal(heard(), "1-3 11-11 20-21 s15");
    order("one/0", 9);
    assert_string_equal(heard(), "10-10 s9");
    order("", 10);
    assert_string_equal(heard(), "0-5 s10");
    assert_int_equal(tool_rig.pushes, 0);
    say_signalled(false);
    check_answer(0, 0, PX_LIB_YES);
    say_signalled(true);
    check_answer(1, 1, PX_LIB_NOT_NOW);
    say_signalled(false);
    check_answer(2, 2, PX_LIB_YES);
    say_signalled(false); /* no request waits */
    assert_int_equal(tool_rig.pushes, 3);
}

/* Requests for unknown processes are refused. The other requests go on. */
static void refused(void **state)
{
    (void)state;
    order("own/0", 1);
    assert_string_equal(heard(), "0-0 s1");
    check_refused("nobody/0", PX_LIB_NOT_FOUND);
    check_refused("nobody/-3", PX_LIB_NOT_FOUND);
    check_refused("own/1 own/6", PX_LIB_NOT_FOUND);
    check_refused("own/-1", PX_LIB_NOT_SUPPORTED);
    tool_rig_say(0, &(struct job_door){.kind = JOB_DOOR_FORGOTTEN});
    tool_rig_settle();
    check_refused("", PX_LIB_NOT_FOUND);
    say_signalled(false);
    check_answer(5, 0, PX_LIB_YES);
}

/* A request for this node names processes of several jobs. Later requests wait,
 * and one that is refused meanwhile gets its answer in its turn. */
static void of_this_node(void **state)
{
    (void)state;
    order("one/-3 two/-5 own/4 own/0", 15);
    order("own/1", 9);
    hear_describe(10);
    say_signalled(false); /* no message was sent */
    assert_int_equal(tool_rig.pushes, 0);
    assert_true(tool_rig_is_silent(0));
    say_place(10, 1, here);
    say_place(11, 1, "nowhere");
    say_place(12, 2, here);
    say_described(false);
    hear_describe(20);
    say_place(20, 2, here);
    say_described(false);
    assert_string_equal(heard(), "0-0 4-4 10-10 12-13 20-21 s15");
    assert_string_equal(heard(), "1-1 s9");
    say_signalled(false);
    check_answer(0, 0, PX_LIB_YES);
    say_signalled(false);
    check_answer(1, 1, PX_LIB_YES);
}

/* No process is on this node, or the job is forgotten while its table is
 * requested. */
static void none_of_this_node(void **state)
{
    (void)state;
    order("one/-3", 15);
    order("two/-3", 15);
    order("own/1", 9);
    hear_describe(10);
    say_place(10, 4, "nowhere");
    say_described(false);
    check_answer(0, 0, PX_LIB_NOT_FOUND);
    hear_describe(20);
    say_place(20, 2, here);
    say_described(true);
    check_answer(1, 1, PX_LIB_NOT_FOUND);
    assert_string_equal(heard(), "1-1 s9");
    order("one/-3", 15);
    hear_describe(10);
    say_place(10, 5, here); /* the job has fewer processes */
    say_described(false);
    check_answer(2, 3, PX_LIB_NO_RESOURCE);
}

/* The greatest number of requests waits; the next one is refused. At the end
 * one request is at the launcher. */
static void too_many(void **state)
{
    (void)state;
    order("one/-3", 15);
    for (unsigned i = 1; i < PX_ORDERS_MAX; i++)
        order("own/1", 15);
    assert_int_equal(tool_rig.pushes, 0);
    order("own/2", 15);
    check_answer(0, PX_ORDERS_MAX, PX_LIB_NO_RESOURCE);
    hear_describe(10);
    say_place(10, 4, here);
    tool_rig_settle();
}

/* Every other process of a large job: as many ranges as the launcher accepts,
 * and one more. */
static void many_ranges(void **state)
{
    static struct px_lib_name some[MANY + 1];
    struct px_lib_control call = {
        .targets = some, .count = MANY + 1, .signo = 15, .call = &call};
    uint32_t count = 0, last = 0;
    struct job_door msg;

    (void)state;
    begin(100, 2 * MANY + 2, "large");
    for (uint32_t i = 0; i <= MANY; i++) {
        strcpy(some[i].nspace, "large");
        some[i].rank = 2 * i;
    }
    px_orders_on_control(orders, &call);
    assert_int_equal(tool_rig.push_answers[0], PX_LIB_NO_RESOURCE);
    assert_true(tool_rig_is_silent(0));
    call.count = MANY;
    px_orders_on_control(orders, &call);
    while ((msg = tool_rig_hear(0)).kind == JOB_DOOR_RANGES) {
        for (; ov_rd_left(&msg.rest) > 0; count++) {
            assert_true(ov_rd_u32(&msg.rest) > last);
            last = ov_rd_u32(&msg.rest);
        }
    }
    assert_int_equal(msg.kind, JOB_DOOR_SIGNAL);
    assert_int_equal(count, MANY);
    say_signalled(false);
    assert_int_equal(tool_rig.push_answers[1], PX_LIB_YES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(in_order),          TEST(refused),  TEST(of_this_node),
        TEST(none_of_this_node), TEST(too_many), TEST(many_ranges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
