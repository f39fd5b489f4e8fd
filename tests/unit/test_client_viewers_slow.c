/* Every byte for a slow client is accounted for: the byte arrives, or is
 * counted as missing at the place where it would have been. */
#include "config.h"

#include "endpoints/client/viewers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "endpoints/client/viewer_impl.h"
#include "tests/unit/rig.h"
#include "tests/unit/viewers_lab.h"

enum {
    PROCS = 8, /* the processes of two jobs, four each */
    CHANNELS = 2,
    RECORD = 64 * 1024,
    TABLE_BYTES = 1 << 17,
};

#define BOX_BYTES ((uint64_t)4 << 20)

/* What the client knows about one channel. */
struct track {
    uint64_t at_bytes; /* how many bytes came or were counted as dropped */
    uint64_t dropped_bytes;
    unsigned ends;
    bool is_pulled;
};

struct watcher {
    struct lab_client client;
    struct track tracks[PROCS][CHANNELS];
    unsigned pulled; /* how often the client was told that it pulls */
};

struct source {
    uint64_t written_bytes;
    bool is_over;
};

struct place {
    struct lab lab;
    struct source sources[PROCS][CHANNELS];
    uint8_t table[TABLE_BYTES];
};

/* Opens a lab with two jobs, `own` and `further`, of which no output is
 * kept. */
static struct place *begin(void)
{
    struct place *place = calloc(1, sizeof(*place));
    uint64_t seed = 1;

    assert_non_null(place);
    for (size_t i = 0; i < sizeof(place->table); i++)
        place->table[i] = (uint8_t)rig_random(&seed);
    lab_open(&place->lab);
    lab_begin(&place->lab);
    lab_job(&place->lab, "further", 4, 4, 0);
    return place;
}

static void end(struct place *place)
{
    assert_int_equal(place->lab.all->pool.used_bytes, 0);
    lab_close(&place->lab);
    free(place);
}

/* Returns the bytes of a channel from this position on; bytes near each other
 * differ. */
static const uint8_t *byte_of(const struct place *place, uint32_t proc,
                              uint32_t channel, uint64_t at)
{
    return &place->table[(at + proc * 40503u + channel * 9973u) %
                         (TABLE_BYTES / 2)];
}

/* Writes a record of as many bytes as possible, at most TABLE_BYTES / 2. */
static void put(struct place *place, uint32_t proc, uint32_t channel,
                uint32_t len_bytes, bool is_end)
{
    struct source *source = &place->sources[proc][channel - 1];
    uint8_t mem[TABLE_BYTES / 2];

    for (uint32_t i = 0; i < len_bytes; i++)
        mem[i] = *byte_of(place, proc, channel, source->written_bytes + i);
    source->written_bytes += len_bytes;
    source->is_over |= is_end;
    lab_put(&place->lab, proc, (uint8_t)channel, mem, len_bytes, is_end);
}

/* --- the client */

static void watch(struct place *place, struct watcher *watcher,
                  const char *name, uint8_t channels)
{
    const uint32_t base = strcmp(name, "own") == 0 ? 0 : 4;

    *watcher = (struct watcher){.pulled = 0};
    lab_attach(&place->lab, &watcher->client, name);
    assert_string_equal(lab_pull(&watcher->client, channels), "");
    for (uint32_t proc = base; proc < base + 4; proc++) {
        for (uint32_t channel = 1; channel <= CHANNELS; channel++)
            watcher->tracks[proc][channel - 1] = (struct track){
                .at_bytes = place->sources[proc][channel - 1].written_bytes,
                .is_pulled = (channels & 1u << channel) != 0};
    }
}

static void note(const struct place *place, struct watcher *watcher,
                 const struct job_door *msg)
{
    struct track *track;
    size_t len = ov_rd_left(&msg->rest);

    if (msg->kind == JOB_DOOR_PULLED) {
        watcher->pulled++;
        return;
    }
    assert_int_equal(msg->kind, JOB_DOOR_OUTPUT);
    assert_true(msg->first < PROCS && msg->channel <= CHANNELS);
    track = &watcher->tracks[msg->first][msg->channel - 1];
    assert_true(track->is_pulled && track->ends == 0);
    assert_true(len > 0 || msg->is_end || msg->dropped_bytes > 0);
    track->at_bytes += msg->dropped_bytes;
    track->dropped_bytes += msg->dropped_bytes;
    for (size_t i = 0; i < len; i++)
        assert_int_equal(
            msg->rest.at[i],
            *byte_of(place, msg->first, msg->channel, track->at_bytes + i));
    track->at_bytes += len;
    track->ends += msg->is_end;
}

/* Reads one message; false: there is none now. */
static bool read_one(const struct place *place, struct watcher *watcher)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct job_door msg = lab_next(&watcher->client, mem);

    if (msg.kind == 0)
        return false;
    note(place, watcher, &msg);
    return true;
}

static void read_all(const struct place *place, struct watcher *watcher)
{
    while (read_one(place, watcher))
        ;
}

/* Checks that all output that the client pulls has come, or was counted. */
static void check_all(const struct place *place, const struct watcher *watcher)
{
    assert_int_equal(watcher->pulled, 1);
    for (uint32_t proc = 0; proc < PROCS; proc++) {
        for (uint32_t i = 0; i < CHANNELS; i++) {
            const struct source *source = &place->sources[proc][i];
            const struct track *track = &watcher->tracks[proc][i];

            if (!track->is_pulled)
                continue;
            assert_int_equal(track->at_bytes, source->written_bytes);
            assert_int_equal(track->ends, source->is_over);
        }
    }
}

static void fill(struct place *place, uint32_t proc, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += RECORD / 2)
        put(place, proc, 1, RECORD / 2, false);
}

/* --- dropped output */

static void what_finds_no_room_is_counted(void **state)
{
    struct place *place = begin();
    struct watcher *slow = malloc(sizeof(*slow));
    struct watcher *fast = malloc(sizeof(*fast));

    (void)state;
    watch(place, slow, "own", LAB_BOTH);
    watch(place, fast, "own", LAB_BOTH);
    for (uint32_t i = 0; i < 100; i++) {
        put(place, 0, 1, RECORD, false);
        read_all(place, fast);
    }
    put(place, 1, 2, RECORD, true);
    read_all(place, fast);
    assert_int_equal(fast->tracks[0][0].dropped_bytes, 0);
    assert_true(place->lab.all->pool.used_bytes <= BOX_BYTES);
    assert_true(place->lab.all->pool.used_bytes > BOX_BYTES - RECORD);
    read_all(place, slow);
    assert_true(slow->tracks[0][0].dropped_bytes > 0);
    assert_true(slow->tracks[0][0].dropped_bytes < 100 * RECORD - BOX_BYTES);
    assert_int_equal(slow->tracks[1][1].dropped_bytes, RECORD);
    put(place, 0, 1, RECORD, true); /* the job goes on as usual */
    read_all(place, fast);
    read_all(place, slow);
    check_all(place, slow);
    check_all(place, fast);
    lab_leave(&slow->client);
    lab_leave(&fast->client);
    free(slow);
    free(fast);
    end(place);
}

/* The next record of the channel says how much is missing before it, if there
 * is room before the client has read everything. */
static void the_next_record_says_what_is_missing(void **state)
{
    struct place *place = begin();
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct lab_client client;
    struct job_door msg;
    uint64_t dropped = 0;

    (void)state;
    lab_attach(&place->lab, &client, "own");
    assert_string_equal(lab_pull(&client, LAB_BOTH), "");
    while (!client.viewer->is_behind)
        put(place, 0, 1, RECORD / 2, false);
    for (uint32_t i = 0; i < 40; i++) {
        msg = lab_next(&client, mem);
        lab_turn(&place->lab);
        assert_int_equal(msg.dropped_bytes, 0);
    }
    assert_true(client.viewer->is_behind);
    lab_write(&place->lab, 0, 1, "next");
    lab_write(&place->lab, 0, 1, "last");
    while ((msg = lab_next(&client, mem)).kind != 0) {
        if (msg.dropped_bytes > 0)
            assert_int_equal(ov_rd_left(&msg.rest), 4);
        dropped += msg.dropped_bytes;
    }
    assert_int_equal(dropped, RECORD / 2);
    lab_leave(&client);
    end(place);
}

static void ends_are_told_in_any_case(void **state)
{
    struct place *place = begin();
    struct watcher *watcher = malloc(sizeof(*watcher));

    (void)state;
    watch(place, watcher, "own", LAB_BOTH);
    fill(place, 2, 2 * BOX_BYTES);
    for (uint32_t proc = 0; proc < 4; proc++) {
        put(place, proc, 1, proc == 1 ? 5 : 0, true);
        put(place, proc, 2, 0, true);
    }
    read_all(place, watcher);
    check_all(place, watcher);
    lab_leave(&watcher->client);
    free(watcher);
    end(place);
}

/* All ends are reported even when there are more than the socket and the outbox
 * hold at a time. */
static void many_ends_are_told_in_turn(void **state)
{
    enum { MANY = 20000 };
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct lab_client client;
    uint32_t ends = 0;
    struct job_door msg;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab_begin(&lab);
    lab.all->pool.limit_bytes = RECORD;
    lab_job(&lab, "large", 10, MANY, 0);
    lab_attach(&lab, &client, "large");
    assert_string_equal(lab_pull(&client, 2), "");
    for (uint32_t i = 0; i < MANY; i++)
        lab_finish(&lab, 10 + i, 1);
    assert_true(client.viewer->is_behind);
    while ((msg = lab_next(&client, mem)).kind != 0)
        ends += msg.is_end;
    assert_int_equal(ends, MANY);
    assert_false(client.viewer->is_behind);
    lab_leave(&client);
    lab_close(&lab);
}

/* The cost for each end does not depend on their number: otherwise this test
 * would take minutes. */
static void many_ends_are_told_at_once(void **state)
{
    enum { MANY = 100000 };
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct lab_client client;
    struct lab lab;

    (void)state;
    lab_open(&lab);
    lab_begin(&lab);
    lab_job(&lab, "large", 10, MANY, 0);
    lab_attach(&lab, &client, "large");
    assert_string_equal(lab_pull(&client, 2), "");
    ASSERT_HEARD(&client, "pulled");
    for (uint32_t i = 0; i < MANY; i++) {
        struct job_door msg;

        ep_viewers_exit(lab.tap, 10 + i, 0, (struct job_span){0});
        lab_finish(&lab, 10 + i, 1);
        msg = lab_next(&client, mem);
        assert_true(msg.is_end && msg.first == 10 + i);
    }
    lab_leave(&client);
    lab_close(&lab);
}

/* Bytes that were missing in earlier output count as dropped when the message
 * about them is lost, too, and are reported although no output of the channel
 * follows. */
static void what_is_dropped_of_the_past_is_told(void **state)
{
    static char text[RECORD / 2];
    struct lab_client client;
    struct lab lab;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    lab_open(&lab);
    lab.cache_bytes = 1 << 24;
    lab.ticket = 3;
    lab_begin(&lab);
    lab_attach(&lab, &client, "own");
    assert_string_equal(lab_range(&client, 0, 0), "");
    assert_string_equal(lab_pull(&client, 2), "");
    while (!client.viewer->is_behind)
        lab_past(&lab, 0, 1, text, 0, false);
    lab_past(&lab, 0, 1, text, 1000, false);
    assert_memory_equal(lab_heard(&client), "pulled; 0.1 bytes", 17);
    ASSERT_HEARD(&client, "");
    lab_past(&lab, 0, 1, "", 0, true);
    ASSERT_HEARD(&client, "0.1 dropped 66534");
    lab_write(&lab, 0, 1, "new");
    ASSERT_HEARD(&client, "0.1 'new'");
    lab_leave(&client);
    lab_close(&lab);
}

/* --- the memory that all clients share */

enum { FULL = 5 };

/* Connects clients that read nothing, until the pool is full. */
static void fill_pool(struct place *place, struct lab_client *full)
{
    for (unsigned i = 0; i < FULL; i++) {
        lab_attach(&place->lab, &full[i], "own");
        assert_string_equal(lab_pull(&full[i], 2), "");
    }
    fill(place, 0, 2 * BOX_BYTES);
    lab_turn(&place->lab);
    assert_true(place->lab.all->pool.used_bytes >
                place->lab.all->pool.limit_bytes - RECORD);
    place->lab.all->pool.limit_bytes = place->lab.all->pool.used_bytes;
}

static void leave_all(struct lab_client *full)
{
    for (unsigned i = 0; i < FULL; i++)
        lab_leave(&full[i]);
}

/* The client's socket has room, although the other clients have used up the
 * pool. */
static void full_clients_leave_anothers_drops_told(void **state)
{
    struct place *place = begin();
    struct watcher *watcher = malloc(sizeof(*watcher));
    struct lab_client full[FULL];

    (void)state;
    fill_pool(place, full);
    watch(place, watcher, "further", LAB_BOTH);
    for (uint32_t i = 0; i < 80; i++) /* more than the client's socket holds */
        put(place, 5, 1, RECORD / 2, false);
    assert_true(watcher->client.viewer->is_behind);
    put(place, 6, 2, 100, true);
    read_all(place, watcher);
    assert_true(watcher->tracks[5][0].dropped_bytes > 0);
    check_all(place, watcher);
    leave_all(full);
    lab_leave(&watcher->client);
    free(watcher);
    end(place);
}

/* --- random runs */

enum { WATCHERS = 6, STEPS = 3000 };

static void write_by_chance(struct place *place, uint64_t *seed)
{
    uint32_t proc = rig_random(seed) % PROCS;
    uint32_t channel = 1 + rig_random(seed) % CHANNELS;
    uint32_t max = rig_random(seed) % 3 == 0 ? TABLE_BYTES / 2 - 1 : 500;

    if (!place->sources[proc][channel - 1].is_over)
        put(place, proc, channel, 1 + rig_random(seed) % max,
            rig_random(seed) % 150 == 0);
}

static void read_by_chance(const struct place *place, struct watcher *watcher,
                           uint64_t *seed)
{
    for (uint32_t i = rig_random(seed) % 200; i > 0; i--) {
        if (!read_one(place, watcher))
            return;
    }
}

static void watch_by_chance(struct place *place, struct watcher *watcher,
                            uint64_t *seed)
{
    static const uint8_t channels[] = {2, 4, 6, 6};

    watch(place, watcher, rig_random(seed) % 2 == 0 ? "own" : "further",
          channels[rig_random(seed) % 4]);
}

/* Ends from before the client connected are reported, too, so every channel
 * must end. */
static void run_by_chance(uint64_t seed)
{
    struct place *place = begin();
    struct watcher *watchers = calloc(WATCHERS, sizeof(*watchers));

    print_message("seed %" PRIu64 "\n", seed);
    place->lab.all->pool.limit_bytes = 256 * 1024 + rig_random(&seed) % 4000000;
    for (unsigned i = 0; i < WATCHERS; i++)
        watch_by_chance(place, &watchers[i], &seed);
    for (unsigned step = 0; step < STEPS; step++) {
        struct watcher *one = &watchers[rig_random(&seed) % WATCHERS];

        write_by_chance(place, &seed);
        if (rig_random(&seed) % 16 == 0)
            read_by_chance(place, one, &seed);
        if (rig_random(&seed) % 16 == 0)
            lab_turn(&place->lab);
        if (rig_random(&seed) % 256 == 0) {
            lab_leave(&one->client);
            watch_by_chance(place, one, &seed);
        }
    }
    for (unsigned i = 0; i < WATCHERS; i++) {
        read_all(place, &watchers[i]); /* whatever the other clients do */
        check_all(place, &watchers[i]);
    }
    for (unsigned i = 0; i < WATCHERS; i++)
        lab_leave(&watchers[i].client);
    free(watchers);
    end(place);
}

static void every_byte_is_accounted_for(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++)
        run_by_chance(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_finds_no_room_is_counted),
        cmocka_unit_test(the_next_record_says_what_is_missing),
        cmocka_unit_test(ends_are_told_in_any_case),
        cmocka_unit_test(many_ends_are_told_in_turn),
        cmocka_unit_test(many_ends_are_told_at_once),
        cmocka_unit_test(what_is_dropped_of_the_past_is_told),
        cmocka_unit_test(full_clients_leave_anothers_drops_told),
        cmocka_unit_test(every_byte_is_accounted_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
