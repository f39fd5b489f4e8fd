/* A door with clients: which clients are served, when, and where the door
 * is. */
#include "endpoints/client/door.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "endpoints/client/folder.h"
#include "endpoints/sys/why.h"
#include "job/door.h"
#include "overlay/base/err.h"

struct place {
    char path[512];
    struct event_base *base;
    struct ep_door *door;
    unsigned stops;
};

static void on_stop(void *arg)
{
    ((struct place *)arg)->stops++;
}

static void begin(struct place *place)
{
    const char *top = getenv("TMPDIR");

    *place = (struct place){.stops = 0};
    snprintf(place->path, sizeof(place->path), "%s/door-XXXXXX",
             top != NULL ? top : "/tmp");
    assert_non_null(mkdtemp(place->path));
    assert_int_equal(setenv("XDG_RUNTIME_DIR", place->path, 1), 0);
    place->base = event_base_new();
    assert_non_null(place->base);
}

static void serve(struct place *place, bool is_dvm)
{
    static const struct ep_door_events events = {.on_stop = on_stop};
    const struct ep_door_cfg cfg = {.base = place->base,
                                    .name = "somebody",
                                    .is_dvm = is_dvm,
                                    .events = &events,
                                    .arg = place};

    assert_int_equal(ep_door_serve(place->door, &cfg), 0);
}

static int open_door(struct place *place, bool is_dvm, char *why)
{
    int rc = ep_door_open(&place->door, why);

    if (rc == 0)
        serve(place, is_dvm);
    return rc;
}

static void end(struct place *place)
{
    char inner[sizeof(place->path) + 8];

    ep_door_close(place->door);
    event_base_free(place->base);
    snprintf(inner, sizeof(inner), "%s/xylem", place->path);
    assert_int_equal(rmdir(inner), 0); /* the folder is empty */
    assert_int_equal(rmdir(place->path), 0);
}

static int dial(void)
{
    int folder = ep_door_folder_open(geteuid(), 0), fd;

    assert_true(folder >= 0);
    fd = ep_door_dial(folder, getpid());
    close(folder);
    return fd;
}

static void say(int fd, struct job_door msg)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    job_door_encode(&wr, &msg);
    assert_int_equal(send(fd, mem, (size_t)(wr.at - mem), MSG_NOSIGNAL),
                     wr.at - mem);
}

/* Returns the answer; kind 0: the client was disconnected. */
static struct job_door hear(struct place *place, int fd)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct job_door msg = {.kind = 0};
    ssize_t got;

    do {
        event_base_loop(place->base, EVLOOP_NONBLOCK);
        got = recv(fd, mem, sizeof(mem), MSG_DONTWAIT);
    } while (got < 0);
    if (got > 0)
        assert_int_equal(job_door_decode(ov_rd_init(mem, (size_t)got), &msg),
                         0);
    return msg;
}

static void greet(struct place *place, int fd, uint8_t kind)
{
    const struct job_door hello = {
        .kind = JOB_DOOR_HELLO, .version = JOB_DOOR_VERSION, .text = "1"};

    say(fd, hello);
    assert_int_equal(hear(place, fd).kind, kind);
}

static void a_client_is_heard_in_order(void **state)
{
    struct place place;
    char why[EP_WHY_MAX];
    int one, other;

    (void)state;
    begin(&place);
    assert_int_equal(open_door(&place, true, why), 0);
    one = dial();
    greet(&place, one, JOB_DOOR_WELCOME);
    say(one, (struct job_door){.kind = JOB_DOOR_STOP});
    other = dial();
    say(other, (struct job_door){.kind = JOB_DOOR_STOP}); /* not allowed yet */
    assert_int_equal(hear(&place, other).kind, JOB_DOOR_REFUSED);
    assert_int_equal(hear(&place, other).kind, 0);
    assert_int_equal(place.stops, 1);
    greet(&place, one, JOB_DOOR_REFUSED); /* a second HELLO */
    assert_int_equal(hear(&place, one).kind, 0);
    close(one);
    close(other);
    end(&place);
}

static void a_session_that_is_no_dvm_is_not_stopped(void **state)
{
    struct place place;
    char why[EP_WHY_MAX];
    int fd;

    (void)state;
    begin(&place);
    assert_int_equal(open_door(&place, false, why), 0);
    fd = dial();
    greet(&place, fd, JOB_DOOR_WELCOME);
    say(fd, (struct job_door){.kind = JOB_DOOR_STOP});
    assert_int_equal(hear(&place, fd).kind, JOB_DOOR_REFUSED);
    assert_int_equal(place.stops, 0);
    close(fd);
    end(&place);
}

/* A client states its purpose only once. */
static void a_client_is_there_for_one_thing(void **state)
{
    static const uint8_t things[] = {JOB_DOOR_WATCH, JOB_DOOR_ATTACH,
                                     JOB_DOOR_SPAWN};
    static const uint8_t piece[] = {0};
    struct place place;
    char why[EP_WHY_MAX];

    (void)state;
    begin(&place);
    assert_int_equal(open_door(&place, false, why), 0);
    for (size_t first = 0; first < sizeof(things); first++) {
        for (size_t next = 0; next < sizeof(things); next++) {
            const struct job_door ask = {.is_more = true,
                                         .rest = ov_rd_init(piece, 1)};
            struct job_door one = ask, other = ask;
            int fd;

            if (things[first] == JOB_DOOR_SPAWN && next == first)
                continue; /* the packet was a piece of the text, and more pieces
                           * follow */
            fd = dial();
            one.kind = things[first];
            other.kind = things[next];
            greet(&place, fd, JOB_DOOR_WELCOME);
            say(fd, one);
            say(fd, other);
            assert_int_equal(hear(&place, fd).kind, JOB_DOOR_REFUSED);
            assert_int_equal(hear(&place, fd).kind, 0);
            close(fd);
        }
    }
    end(&place);
}

/* Before a client has stated its purpose, it may not make requests in any
 * session. */
static void who_is_there_for_nothing_asks_nothing(void **state)
{
    static const uint8_t kinds[] = {JOB_DOOR_DESCRIBE, JOB_DOOR_SIGNAL,
                                    JOB_DOOR_NAME, JOB_DOOR_WHERE};
    struct place place;
    char why[EP_WHY_MAX];

    (void)state;
    begin(&place);
    assert_int_equal(open_door(&place, false, why), 0);
    for (size_t i = 0; i < sizeof(kinds); i++) {
        int fd = dial();

        greet(&place, fd, JOB_DOOR_WELCOME);
        say(fd, (struct job_door){.kind = kinds[i]});
        assert_string_equal(hear(&place, fd).text,
                            "a client must attach to a job, or watch, before "
                            "it sends requests");
        close(fd);
    }
    end(&place);
}

static void a_number_is_that_of_one_session(void **state)
{
    struct place place;
    struct ep_door *first;
    char why[EP_WHY_MAX];

    (void)state;
    begin(&place);
    assert_int_equal(open_door(&place, true, why), 0);
    first = place.door;
    assert_int_equal(open_door(&place, true, why), OV_ESYS);
    assert_non_null(strstr(why, "a session with the same process number"));
    place.door = first;
    end(&place);
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* One loop after another serves the door; messages sent in between wait. */
static void a_door_outlives_a_loop(void **state)
{
    struct place place;
    char why[EP_WHY_MAX];
    struct ep_door *door;
    int one, other;

    (void)state;
    begin(&place);
    assert_int_equal(open_door(&place, true, why), 0);
    one = dial();
    greet(&place, one, JOB_DOOR_WELCOME);
    say(one, (struct job_door){.kind = JOB_DOOR_ADDRESS});
    event_base_loop(place.base, EVLOOP_NONBLOCK);
    ep_door_pause(place.door);
    ep_door_pause(place.door);
    say(one, (struct job_door){.kind = JOB_DOOR_STOP});
    other = dial();
    event_base_loop(place.base, EVLOOP_NONBLOCK);
    assert_int_equal(place.stops, 0);
    door = place.door;
    serve(&place, true);
    assert_ptr_equal(place.door, door);
    greet(&place, other, JOB_DOOR_WELCOME);
    assert_int_equal(place.stops, 1);
    ep_door_tools(door, "a;b");
    assert_int_equal(hear(&place, one).kind, JOB_DOOR_TOOLS);
    close(one);
    close(other);
    end(&place);
}

static void a_lost_name_is_made_again(void **state)
{
    struct place place;
    char why[EP_WHY_MAX], path[sizeof(place.path) + 32];
    int one, other;

    (void)state;
    begin(&place);
    assert_int_equal(open_door(&place, true, why), 0);
    one = dial();
    greet(&place, one, JOB_DOOR_WELCOME);
    ep_door_look(place.door); /* The name has not changed, so looking changes
                               * nothing. */
    snprintf(path, sizeof(path), "%s/xylem/%d", place.path, (int)getpid());
    assert_int_equal(unlink(path), 0);
    *strrchr(path, '/') = '\0';
    assert_int_equal(rmdir(path), 0);
    ep_door_look(place.door);
    other = dial();
    greet(&place, other, JOB_DOOR_WELCOME);
    /* The client is still connected. */
    say(one, (struct job_door){.kind = JOB_DOOR_STOP});
    say(other, (struct job_door){.kind = JOB_DOOR_HELLO,
                                 .version = JOB_DOOR_VERSION,
                                 .text = "1"});
    assert_int_equal(hear(&place, other).kind, JOB_DOOR_REFUSED);
    assert_int_equal(place.stops, 1);
    close(one);
    close(other);
    end(&place);
}

/* Without the pause the door would try again and again. */
static void without_a_descriptor_it_rests(void **state)
{
    struct rlimit before, none;
    struct place place;
    char why[EP_WHY_MAX];
    uint64_t start_ms;
    int fd;

    (void)state;
    begin(&place);
    assert_int_equal(open_door(&place, true, why), 0);
    fd = dial();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0; /* no further descriptor can be made */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    event_base_loop(place.base, EVLOOP_NONBLOCK);
    start_ms = now_ms();
    event_base_loop(place.base, EVLOOP_ONCE); /* waits until the door's pause
                                               * ends */
    assert_true(now_ms() - start_ms >= 500);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    greet(&place, fd, JOB_DOOR_WELCOME);
    close(fd);
    end(&place);
}

static void a_folder_that_others_enter_is_not_used(void **state)
{
    struct place place;
    char why[EP_WHY_MAX], inner[sizeof(place.path) + 8];

    (void)state;
    begin(&place);
    snprintf(inner, sizeof(inner), "%s/xylem", place.path);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(chmod(inner, 0710), 0);
    assert_int_equal(open_door(&place, true, why), OV_ESYS);
    assert_non_null(strstr(why, "must be a directory of this user"));
    assert_int_equal(ep_door_folder_open(geteuid(), 0), -1);
    end(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_is_heard_in_order),
        cmocka_unit_test(a_session_that_is_no_dvm_is_not_stopped),
        cmocka_unit_test(a_client_is_there_for_one_thing),
        cmocka_unit_test(who_is_there_for_nothing_asks_nothing),
        cmocka_unit_test(a_number_is_that_of_one_session),
        cmocka_unit_test(a_door_outlives_a_loop),
        cmocka_unit_test(a_lost_name_is_made_again),
        cmocka_unit_test(without_a_descriptor_it_rests),
        cmocka_unit_test(a_folder_that_others_enter_is_not_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
