/* Packets to a client are sent whole and in order, however much its socket
 * accepts. */
#include "config.h"

#include "endpoints/client/outbox.h"

#include <inttypes.h>
#include <sys/socket.h>

#include "overlay/base/err.h"
#include "tests/unit/rig.h"

enum {
    LIMIT = 512 * 1024,
    POOL = 800 * 1024,
    PACKET = 16 * 1024,
    PACKET_MAX = JOB_DOOR_BYTES_MAX,
};

struct end {
    struct ep_outbox *box;
    int ours, fd;
    unsigned empties;
};

struct place {
    struct event_base *base;
    struct ep_outbox_pool pool;
    struct end ends[2];
};

static void on_empty(void *arg)
{
    struct end *end = arg;

    assert_true(ep_outbox_is_empty(end->box));
    end->empties++;
}

static void open_end(struct place *place, struct end *end)
{
    struct ep_outbox_cfg cfg = {.base = place->base,
                                .limit_bytes = LIMIT,
                                .pool = &place->pool,
                                .on_empty = on_empty,
                                .arg = end};
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds),
                     0);
    *end = (struct end){.ours = fds[0], .fd = fds[1]};
    cfg.fd = end->ours;
    assert_int_equal(ep_outbox_open(&cfg, &end->box), 0);
    assert_true(ep_outbox_is_empty(end->box));
}

static void begin(struct place *place)
{
    *place = (struct place){.pool = {.limit_bytes = POOL}};
    place->base = event_base_new();
    assert_non_null(place->base);
    for (unsigned i = 0; i < 2; i++)
        open_end(place, &place->ends[i]);
}

static void close_box(struct end *end)
{
    ep_outbox_close(end->box);
    end->box = NULL;
}

static void end(struct place *place)
{
    for (unsigned i = 0; i < 2; i++) {
        close_box(&place->ends[i]);
        close(place->ends[i].ours);
        if (place->ends[i].fd >= 0)
            close(place->ends[i].fd);
    }
    assert_int_equal(place->pool.used_bytes, 0);
    event_base_free(place->base);
}

/* Fills a packet with its number, and bytes that follow from the number. */
static void fill(uint8_t *mem, uint32_t number, uint32_t len_bytes)
{
    for (uint32_t i = 0; i < len_bytes; i++)
        mem[i] = (uint8_t)(number * 31 + i * 7 + (i >> 8));
    if (len_bytes >= sizeof(number))
        memcpy(mem, &number, sizeof(number));
}

static int put(struct end *to, uint32_t number, uint32_t len_bytes)
{
    uint8_t mem[PACKET_MAX];
    uint32_t head = len_bytes < 16 ? len_bytes : 16;

    fill(mem, number, len_bytes);
    return ep_outbox_put(to->box, mem, head,
                         len_bytes > head ? mem + head : NULL,
                         len_bytes - head);
}

/* Receives a packet; returns its length; -1: there is none now. */
static ssize_t take(struct end *from, uint8_t *mem)
{
    return recv(from->fd, mem, PACKET_MAX, MSG_DONTWAIT);
}

static void expect(struct end *from, uint32_t number, uint32_t len_bytes)
{
    uint8_t mem[PACKET_MAX], want[PACKET_MAX];

    fill(want, number, len_bytes);
    assert_int_equal(take(from, mem), len_bytes);
    assert_memory_equal(mem, want, len_bytes);
}

/* Puts packets until one is refused. Returns how many were accepted. */
static uint32_t put_all(struct end *to, uint32_t first)
{
    uint32_t number = first;

    while (put(to, number, PACKET) == 0)
        number++;
    return number - first;
}

static void turn(struct place *place)
{
    event_base_loop(place->base, EVLOOP_NONBLOCK);
}

/* Receives everything until the outbox is empty: packets of one length, in
 * order from `first`. */
static void drain(struct place *place, struct end *from, uint32_t first,
                  uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        turn(place);
        expect(from, first + i, PACKET);
    }
    turn(place);
    assert_true(ep_outbox_is_empty(from->box));
}

static void a_packet_is_sent_at_once(void **state)
{
    struct place place;

    (void)state;
    begin(&place);
    assert_int_equal(put(&place.ends[0], 1, 5), 0);
    assert_int_equal(put(&place.ends[0], 2, PACKET_MAX), 0);
    expect(&place.ends[0], 1, 5);
    expect(&place.ends[0], 2, PACKET_MAX);
    assert_int_equal(place.pool.used_bytes, 0);
    assert_int_equal(place.ends[0].empties, 0);
    end(&place);
}

/* Packets of random sizes go to a reader that takes some now and then. */
static void packets_stay_in_order(uint64_t seed)
{
    enum { COUNT = 3000 };
    static uint32_t lens[COUNT];
    uint32_t next = 0, taken = 0;
    struct place place;
    struct end *to = &place.ends[0];

    print_message("seed %" PRIu64 "\n", seed);
    begin(&place);
    while (taken < COUNT) {
        for (uint32_t i = rig_random(&seed) % 40; i > 0 && next < COUNT; i--) {
            lens[next] =
                1 + rig_random(&seed) %
                        (rig_random(&seed) % 4 == 0 ? PACKET_MAX : 2000);
            if (put(to, next, lens[next]) != 0)
                break;
            next++;
        }
        for (uint32_t i = rig_random(&seed) % 40; i > 0 && taken < next; i--) {
            turn(&place);
            expect(to, taken, lens[taken]);
            taken++;
        }
    }
    turn(&place);
    assert_true(ep_outbox_is_empty(to->box));
    end(&place);
}

static void what_waits_stays_in_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        packets_stay_in_order(seed);
}

static void a_box_has_a_limit(void **state)
{
    struct place place;
    struct end *to = &place.ends[0];
    uint32_t count;

    (void)state;
    begin(&place);
    count = put_all(to, 0);
    assert_false(ep_outbox_is_empty(to->box));
    assert_true(place.pool.used_bytes <= LIMIT);
    assert_true(place.pool.used_bytes + 2 * PACKET > LIMIT);
    drain(&place, to, 0, count);
    assert_int_equal(place.pool.used_bytes, 0);
    assert_int_equal(to->empties, 1);
    assert_int_equal(put(to, 7, PACKET), 0); /* packets are accepted at once
                                              * again */
    expect(to, 7, PACKET);
    end(&place);
}

static void all_boxes_have_a_limit(void **state)
{
    struct place place;
    uint32_t first, other;

    (void)state;
    begin(&place);
    first = put_all(&place.ends[0], 0);
    other = put_all(&place.ends[1], 0);
    assert_true(place.pool.used_bytes <= POOL);
    assert_true(place.pool.used_bytes + 2 * PACKET > POOL);
    assert_true(other < first);
    drain(&place, &place.ends[0], 0, first);
    /* there is room for other packets */
    assert_true(put_all(&place.ends[1], other) > 0);
    end(&place);
}

/* Other clients have used up the pool, and still the outbox keeps enough to
 * report later that there is room. */
static void a_refusal_is_followed_by_room(void **state)
{
    struct place place;
    struct end *to = &place.ends[0];
    uint32_t count;

    (void)state;
    begin(&place);
    place.pool.limit_bytes = 0;
    count = put_all(to, 0);
    assert_false(ep_outbox_is_empty(to->box));
    assert_true(place.pool.used_bytes <= EP_OUTBOX_LEAST_BYTES);
    assert_true(place.pool.used_bytes + 2 * PACKET > EP_OUTBOX_LEAST_BYTES);
    assert_int_equal(ep_outbox_bytes(to->box), place.pool.used_bytes);
    turn(&place);
    assert_int_equal(to->empties, 0);
    drain(&place, to, 0, count);
    assert_int_equal(to->empties, 1);
    turn(&place);
    assert_int_equal(to->empties, 1);
    assert_int_equal(put(to, 7, PACKET), 0);
    end(&place);
}

/* A message is accepted after everything that is kept, although output is
 * refused. */
static void a_word_finds_room_in_a_full_box(void **state)
{
    const struct job_door word = {.kind = JOB_DOOR_PULLED};
    uint8_t mem[PACKET_MAX];
    struct job_door got;
    struct place place;
    uint32_t first, other;
    ssize_t len;

    (void)state;
    begin(&place);
    first = put_all(&place.ends[0], 0);
    other = put_all(&place.ends[1], 0);
    for (unsigned i = 0; i < 2; i++) {
        while (put(&place.ends[i], 99, 3) == 0) /* until nothing at all is
                                                 * accepted */
            ;
        ep_outbox_say(place.ends[i].box, &word);
    }
    for (uint32_t i = 0; i < other; i++) {
        turn(&place);
        expect(&place.ends[1], i, PACKET);
    }
    do {
        turn(&place);
        len = take(&place.ends[1], mem);
        assert_true(len > 0);
    } while (mem[0] != JOB_DOOR_PULLED);
    assert_int_equal(job_door_decode(ov_rd_init(mem, (size_t)len), &got), 0);
    assert_true(first > 0 && !ep_outbox_is_empty(place.ends[0].box));
    end(&place);
}

/* Messages to a client that never reads have a limit, too. */
static void words_have_a_limit_too(void **state)
{
    const struct job_door word = {.kind = JOB_DOOR_PULLED};
    struct place place;

    (void)state;
    begin(&place);
    put_all(&place.ends[0], 0);
    for (unsigned i = 0; i < 2 * EP_OUTBOX_WORDS_BYTES; i++)
        ep_outbox_say(place.ends[0].box, &word);
    assert_true(place.pool.used_bytes <= LIMIT + EP_OUTBOX_WORDS_BYTES);
    assert_true(place.pool.used_bytes > LIMIT);
    end(&place);
}

static void a_peer_that_has_left_is_no_error(void **state)
{
    struct place place;
    struct end *to = &place.ends[0];

    (void)state;
    begin(&place);
    put_all(to, 0);
    close(to->fd);
    to->fd = -1;
    turn(&place);
    assert_true(ep_outbox_is_empty(to->box));
    assert_int_equal(to->empties, 1);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(put(to, i, PACKET), 0);
    ep_outbox_say(to->box, &(struct job_door){.kind = JOB_DOOR_PULLED});
    assert_int_equal(place.pool.used_bytes, 0);
    end(&place);
}

/* Receives the packets of one length that are there now, in order from `first`.
 * Returns their number. */
static uint32_t take_all(struct end *from, uint32_t first)
{
    uint8_t mem[PACKET_MAX], want[PACKET_MAX];
    uint32_t count = 0;
    ssize_t got;

    while ((got = take(from, mem)) >= 0) {
        fill(want, first + count, PACKET);
        assert_int_equal(got, PACKET);
        assert_memory_equal(mem, want, PACKET);
        count++;
    }
    return count;
}

/* The client's socket has room again, which the loop has not reported yet: kept
 * packets are sent first, and then there is room for more. */
static void what_is_kept_is_tried_again(void **state)
{
    struct place place;
    struct end *to = &place.ends[0];
    uint32_t count, taken = 0;

    (void)state;
    begin(&place);
    count = put_all(to, 0);
    assert_int_equal(place.pool.sent, 0);
    while (!ep_outbox_is_empty(to->box)) {
        taken += take_all(to, taken);
        assert_int_equal(put(to, count++, PACKET), 0);
    }
    assert_true(place.pool.sent > 0);
    assert_int_equal(to->empties, 0);
    taken += take_all(to, taken);
    assert_int_equal(taken, count);
    turn(&place); /* the outbox learns of it from the loop alone */
    assert_int_equal(to->empties, 1);
    end(&place);
}

static void what_was_kept_is_counted_when_it_is_sent(void **state)
{
    struct place place;
    uint32_t first, other, kept = 0;

    (void)state;
    begin(&place);
    first = put_all(&place.ends[0], 0);
    other = put_all(&place.ends[1], 0);
    for (unsigned i = 0; i < 2; i++)
        kept += (uint32_t)(ep_outbox_bytes(place.ends[i].box) / PACKET);
    drain(&place, &place.ends[0], 0, first);
    drain(&place, &place.ends[1], 0, other);
    assert_int_equal(place.pool.sent, kept);
    assert_int_equal(put(&place.ends[0], 0, 5), 0); /* sent at once */
    assert_int_equal(place.pool.sent, kept);
    end(&place);
}

static void a_box_that_closes_gives_back_its_part(void **state)
{
    struct place place;
    uint64_t all_bytes;

    (void)state;
    begin(&place);
    put_all(&place.ends[0], 0);
    all_bytes = place.pool.used_bytes;
    put_all(&place.ends[1], 0);
    close_box(&place.ends[0]);
    assert_int_equal(place.ends[0].empties, 0);
    assert_true(place.pool.used_bytes < all_bytes);
    close_box(&place.ends[1]);
    assert_int_equal(place.pool.used_bytes, 0);
    end(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_is_sent_at_once),
        cmocka_unit_test(what_waits_stays_in_order),
        cmocka_unit_test(a_box_has_a_limit),
        cmocka_unit_test(all_boxes_have_a_limit),
        cmocka_unit_test(a_refusal_is_followed_by_room),
        cmocka_unit_test(a_word_finds_room_in_a_full_box),
        cmocka_unit_test(words_have_a_limit_too),
        cmocka_unit_test(a_peer_that_has_left_is_no_error),
        cmocka_unit_test(what_is_kept_is_tried_again),
        cmocka_unit_test(what_was_kept_is_counted_when_it_is_sent),
        cmocka_unit_test(a_box_that_closes_gives_back_its_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
