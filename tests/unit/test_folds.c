/* Folded output, unfolded, is what each rank wrote; and each record is told as
 * written once, whole and in order, whatever records lines are cut into and
 * however slow the console is. */
#include "config.h"

#include "endpoints/output/folds.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <event2/event.h>

#include "endpoints/output/fold_lane.h"
#include "job/record.h"
#include "tests/unit/chance.h"

enum { RANKS = 12, BYTES_MAX = 4 << 20, QUEUE_MAX = 1 << 19 };

/* What was written, came out and was told, of a rank. */
struct speech {
    uint8_t *said, *got, *told; /* owned */
    size_t said_bytes, sent_bytes, got_bytes, told_bytes;
};

/* A record that the console has. */
struct job {
    struct job_record rec;
    bool is_written;
};

struct fixture {
    struct event_base *base;
    struct ep_folds *folds;
    struct speech speeches[RANKS];
    struct job *queue; /* owned [QUEUE_MAX] */
    uint32_t queue_first, queue_last;
    uint32_t sent, back; /* records of the caller */
    uint32_t passed, errors, overs, groups;
    struct text_style style;
    enum ep_fold how;
    uint8_t *whole; /* owned: whole outputs, with their heads */
    size_t whole_bytes;
};

static void hear(struct speech *speech, const uint8_t *mem, size_t len_bytes)
{
    assert_true(speech->got_bytes + len_bytes <= BYTES_MAX + 1);
    memcpy(speech->got + speech->got_bytes, mem, len_bytes);
    speech->got_bytes += len_bytes;
}

/* Reads the ranks of "0-3,7] ..." and gives them these bytes. */
static void hear_all(struct fixture *fx, const uint8_t *who, const uint8_t *mem,
                     size_t len_bytes)
{
    while (*(who - 1) != ']') {
        char *behind;
        unsigned long first = strtoul((const char *)who, &behind, 10);
        unsigned long last =
            *behind == '-' ? strtoul(behind + 1, &behind, 10) : first;

        assert_true(last < RANKS);
        for (; first <= last; first++)
            hear(&fx->speeches[first], mem, len_bytes);
        who = (const uint8_t *)behind + 1;
    }
}

/* Reads lines as "[0-3,7] text". */
static void unfold(struct fixture *fx, const uint8_t *mem, size_t len_bytes)
{
    const uint8_t *at = mem, *end = mem + len_bytes;

    for (; at < end; fx->groups++) {
        const uint8_t *head = at + 1;
        const uint8_t *close = memchr(at, ']', (size_t)(end - at));
        const uint8_t *newline = memchr(at, '\n', (size_t)(end - at));

        assert_int_equal(*at, '[');
        assert_non_null(close);
        assert_non_null(newline);
        hear_all(fx, head, close + 2, (size_t)(newline + 1 - close - 2));
        at = newline + 1;
    }
}

/* Reads whole outputs, each under "---- [0-3,7] ----". */
static void unfold_wholes(struct fixture *fx)
{
    static const char head[] = "---- [", tail[] = "] ----\n";
    const uint8_t *at = fx->whole, *end = fx->whole + fx->whole_bytes;

    while (at < end) {
        const uint8_t *who = at + sizeof(head) - 1, *text, *next;

        assert_memory_equal(at, head, sizeof(head) - 1);
        text = memmem(who, (size_t)(end - who), tail, sizeof(tail) - 1);
        assert_non_null(text);
        text += sizeof(tail) - 1;
        next = memmem(text, (size_t)(end - text), head, sizeof(head) - 1);
        next = next != NULL ? next : end;
        hear_all(fx, who, text, (size_t)(next - text));
        at = next;
    }
}

static void hear_whole(struct fixture *fx, const uint8_t *mem, size_t len_bytes)
{
    fx->whole = realloc(fx->whole, fx->whole_bytes + len_bytes);
    assert_non_null(fx->whole);
    memcpy(fx->whole + fx->whole_bytes, mem, len_bytes);
    fx->whole_bytes += len_bytes;
}

static int on_record(void *arg, const struct job_record *rec)
{
    struct fixture *fx = arg;

    assert_true(fx->queue_last < QUEUE_MAX);
    fx->queue[fx->queue_last++] = (struct job){.rec = *rec};
    if (rec->proc == RANKS)
        fx->passed++;
    else if (rec->proc < RANKS)
        hear(&fx->speeches[rec->proc], rec->mem, rec->len_bytes);
    else if (fx->how == EP_FOLD_END)
        hear_whole(fx, rec->mem, rec->len_bytes);
    else
        unfold(fx, rec->mem, rec->len_bytes);
    return 0;
}

static void on_written(void *arg, uint32_t proc, uint8_t channel,
                       const void *mem, uint32_t len_bytes)
{
    struct fixture *fx = arg;
    struct speech *speech = &fx->speeches[proc];

    if (proc == RANKS)
        return;
    assert_int_equal(channel, TEXT_CHANNEL_STDOUT);
    assert_memory_equal(mem, speech->said + speech->told_bytes, len_bytes);
    speech->told_bytes += len_bytes;
}

static void on_taken(void *arg, uint64_t cookie)
{
    struct fixture *fx = arg;

    free((void *)(uintptr_t)cookie);
    fx->back++;
}

static void on_error(void *arg, int err, const char *why)
{
    (void)err;
    (void)why;
    ((struct fixture *)arg)->errors++;
}

static void on_note(void *arg, const char *text)
{
    (void)arg;
    fail_msg("%s", text);
}

static void on_over(void *arg)
{
    ((struct fixture *)arg)->overs++;
}

static const struct ep_folds_events events = {
    .on_record = on_record,
    .on_written = on_written,
    .on_taken = on_taken,
    .on_error = on_error,
    .on_note = on_note,
    .on_over = on_over,
};

static void begin(struct fixture *fx, enum ep_fold how)
{
    const struct ep_folds_cfg cfg = {.base = event_base_new(),
                                     .how = how,
                                     .ranks = RANKS,
                                     .channels = 1u << TEXT_CHANNEL_STDOUT,
                                     .events = &events,
                                     .arg = fx};

    *fx = (struct fixture){.base = cfg.base, .how = how};
    fx->queue = malloc(QUEUE_MAX * sizeof(*fx->queue));
    for (int i = 0; i < RANKS; i++) {
        fx->speeches[i].said = malloc(BYTES_MAX);
        fx->speeches[i].got = malloc(BYTES_MAX + 1);
    }
    assert_int_equal(ep_folds_open(&cfg, &fx->folds), 0);
}

static void end(struct fixture *fx)
{
    ep_folds_close(fx->folds);
    for (int i = 0; i < RANKS; i++) {
        free(fx->speeches[i].said);
        free(fx->speeches[i].got);
    }
    free(fx->queue);
    free(fx->whole);
    event_base_free(fx->base);
}

/* Sends a record, whose bytes are overwritten when it is given back. */
static void put_record(struct fixture *fx, uint32_t proc, const void *mem,
                       size_t len_bytes, bool is_end)
{
    uint8_t *copy = malloc(len_bytes + 1);
    const struct job_record rec = {.cookie = (uintptr_t)copy,
                                   .mem = len_bytes > 0 ? copy : NULL,
                                   .len_bytes = (uint32_t)len_bytes,
                                   .proc = proc,
                                   .rank = proc,
                                   .channel = TEXT_CHANNEL_STDOUT,
                                   .style = &fx->style,
                                   .is_end = is_end};

    assert_non_null(copy);
    if (len_bytes > 0)
        memcpy(copy, mem, len_bytes);
    fx->sent++;
    assert_int_equal(ep_folds_record(fx->folds, &rec), 0);
}

/* The console writes, and gives back, at most this many records. */
static void console_takes(struct fixture *fx, uint32_t most)
{
    event_base_loop(fx->base, EVLOOP_NONBLOCK);
    for (; most > 0 && fx->queue_first < fx->queue_last; most--) {
        const struct job_record rec = fx->queue[fx->queue_first++].rec;

        if (rec.len_bytes > 0)
            ep_folds_written(fx->folds, rec.proc, rec.channel, rec.mem,
                             rec.len_bytes);
        ep_folds_taken(fx->folds, rec.cookie);
    }
    event_base_loop(fx->base, EVLOOP_NONBLOCK);
}

static void finish(struct fixture *fx)
{
    ep_folds_finish(fx->folds);
    ep_folds_finish(fx->folds);
    while (fx->queue_first < fx->queue_last)
        console_takes(fx, 100);
    console_takes(fx, 1);
    assert_int_equal(fx->overs, 1);
    assert_int_equal(fx->errors, 0);
    assert_int_equal(fx->sent, fx->back);
    assert_int_equal(ep_folds_pending(fx->folds), 0);
    assert_int_equal(ep_folds_dropped(fx->folds), 0);
    unfold_wholes(fx);
    for (int i = 0; i < RANKS; i++) {
        struct speech *it = &fx->speeches[i];
        const bool is_open =
            it->said_bytes > 0 && it->said[it->said_bytes - 1] != '\n';

        assert_int_equal(it->told_bytes, it->sent_bytes);
        /* The newline at the end may be the console's. */
        assert_in_range(it->got_bytes, it->said_bytes,
                        it->said_bytes + is_open);
        assert_memory_equal(it->got, it->said, it->said_bytes);
    }
}

static void say(struct speech *speech, const void *mem, size_t len_bytes)
{
    if (speech->said_bytes + len_bytes > BYTES_MAX)
        return;
    memcpy(speech->said + speech->said_bytes, mem, len_bytes);
    speech->said_bytes += len_bytes;
}

/* Makes lines of all kinds. */
static void make(struct fixture *fx, struct chance *chance)
{
    const uint32_t lines = chance_in(chance, 0, 200);
    const uint32_t long_lines = chance_is(chance, 20) ? 2 : 0;
    static uint8_t line[200000];

    for (uint32_t i = 0; i < lines; i++) {
        size_t len = chance_in(chance, 0, 30);
        const bool is_own = chance_is(chance, 30);

        if (chance_is(chance, long_lines))
            len = chance_in(chance, 60000, sizeof(line) - 1);
        for (size_t at = 0; at < len; at++) {
            line[at] = (uint8_t)chance_in(chance, at < 30 ? 0 : 64, 255);
            line[at] = line[at] == '\n' ? '\033' : line[at];
        }
        line[len] = '\n';
        for (int rank = 0; rank < RANKS; rank++) {
            if (is_own && len > 0)
                line[0] = (uint8_t)(rank + 20);
            if (!chance_is(chance, 3))
                say(&fx->speeches[rank], line, len + 1);
        }
    }
    for (int rank = 0; rank < RANKS; rank++) {
        if (chance_is(chance, 50))
            say(&fx->speeches[rank], "end", 3);
    }
}

/* A part of a line and what comes of it next are more than a record of the
 * console may have. */
static void a_long_line_goes_in_records(void **state)
{
    enum { PART = 60 << 10, MORE = 126 << 10 };
    static uint8_t line[PART + MORE];
    struct fixture fx;

    (void)state;
    begin(&fx, EP_FOLD_LIVE);
    memset(line, 'x', sizeof(line));
    say(&fx.speeches[0], line, sizeof(line));
    say(&fx.speeches[0], "\n", 1);
    put_record(&fx, 0, line, PART, false);
    put_record(&fx, 0, line + PART, MORE, false);
    put_record(&fx, 0, "\n", 1, true);
    fx.speeches[0].sent_bytes = fx.speeches[0].said_bytes;
    for (uint32_t rank = 1; rank < RANKS; rank++)
        put_record(&fx, rank, NULL, 0, true);
    finish(&fx);
    end(&fx);
}

static void play(struct chance *chance)
{
    const uint32_t record_max = chance_is(chance, 50) ? 60 : 65536;
    const uint32_t slow = chance_in(chance, 1, 60);
    struct fixture fx;
    uint32_t left = RANKS;

    begin(&fx, chance_is(chance, 40) ? EP_FOLD_END : EP_FOLD_LIVE);
    make(&fx, chance);
    while (left > 0) {
        const uint32_t rank = chance_in(chance, 0, RANKS - 1);
        struct speech *it = &fx.speeches[rank];
        size_t len = chance_in(chance, 0, record_max);

        if (it->sent_bytes == SIZE_MAX)
            continue;
        if (len > it->said_bytes - it->sent_bytes)
            len = it->said_bytes - it->sent_bytes;
        put_record(&fx, rank, it->said + it->sent_bytes, len,
                   it->sent_bytes + len == it->said_bytes);
        it->sent_bytes += len;
        if (it->sent_bytes == it->said_bytes) {
            it->sent_bytes = SIZE_MAX;
            left--;
        }
        if (chance_is(chance, 2))
            put_record(&fx, RANKS, "tool\n", 5, false);
        if (chance_is(chance, slow))
            console_takes(&fx, chance_in(chance, 1, 20));
    }
    for (int i = 0; i < RANKS; i++)
        fx.speeches[i].sent_bytes = fx.speeches[i].said_bytes;
    finish(&fx);
    end(&fx);
}

static void random_ranks_are_whole(void **state)
{
    struct chance chance = chance_start(3);

    (void)state;
    for (int i = 0; i < 60; i++)
        play(&chance);
}

/* While the console has no room, records wait and are not given back. */
static void a_slow_console_holds_records(void **state)
{
    enum { LINES = 40 };
    static uint8_t line[60000];
    struct fixture fx;
    struct speech *it = &fx.speeches[0];

    (void)state;
    begin(&fx, EP_FOLD_LIVE);
    memset(line, 'x', sizeof(line));
    line[sizeof(line) - 1] = '\n';
    for (uint32_t rank = 1; rank < RANKS; rank++)
        put_record(&fx, rank, NULL, 0, true);
    for (int i = 0; i < LINES; i++) {
        say(it, line, sizeof(line));
        it->sent_bytes = it->said_bytes;
        put_record(&fx, 0, line, sizeof(line), i == LINES - 1);
        event_base_loop(fx.base, EVLOOP_NONBLOCK);
    }
    assert_true(fx.back < fx.sent);
    ep_folds_finish(fx.folds);
    event_base_loop(fx.base, EVLOOP_NONBLOCK);
    assert_in_range(fx.queue_last * sizeof(line), 1, 2 << 20);
    assert_int_equal(fx.overs, 0);
    finish(&fx);
    end(&fx);
}

/* Returns how much memory is in use; 0 under sanitizers. */
static size_t used_bytes(void)
{
    return mallinfo2().uordblks;
}

/* Records of one short line each, which a slow console has, take no more memory
 * than long ones. */
static void short_records_are_bounded(void **state)
{
    struct fixture fx;
    struct speech *it = &fx.speeches[0];
    size_t before;

    (void)state;
    begin(&fx, EP_FOLD_LIVE);
    for (uint32_t rank = 1; rank < RANKS; rank++)
        put_record(&fx, rank, NULL, 0, true);
    before = used_bytes();
    for (int i = 0; i < 20000; i++) {
        say(it, "a\n", 2);
        it->sent_bytes = it->said_bytes;
        put_record(&fx, 0, "a\n", 2, i == 19999);
        event_base_loop(fx.base, EVLOOP_NONBLOCK);
    }
    assert_true(fx.back < fx.sent);
    assert_true(used_bytes() < before + (8 << 20));
    finish(&fx);
    end(&fx);
}

/* Lines that come while the console has no room are not all taken as soon as it
 * has some. */
static void lines_in_hand_are_bounded(void **state)
{
    enum { RECORDS = 60, LINES = 5000 };
    static char lines[LINES * 12];
    struct fixture fx;
    struct speech *it = &fx.speeches[0];
    size_t before;

    (void)state;
    begin(&fx, EP_FOLD_LIVE);
    for (uint32_t rank = 1; rank < RANKS; rank++)
        put_record(&fx, rank, NULL, 0, true);
    before = used_bytes();
    for (int i = 0; i < RECORDS; i++) {
        char *at = lines;

        for (int j = 0; j < LINES; j++)
            at += sprintf(at, "\033[m%d\n", i * LINES + j);
        say(it, lines, (size_t)(at - lines));
        it->sent_bytes = it->said_bytes;
        put_record(&fx, 0, lines, (size_t)(at - lines), i == RECORDS - 1);
        event_base_loop(fx.base, EVLOOP_NONBLOCK);
    }
    for (int i = 0; i < 10000; i++)
        console_takes(&fx, 1);
    assert_true(used_bytes() < before + (40 << 20));
    finish(&fx);
    end(&fx);
}

/* Whole outputs that are almost equal are not in memory one beside the other.
 */
static void common_lines_are_there_once(void **state)
{
    enum { RECORDS = 5, LINES = 50000 };
    static uint8_t lines[LINES];
    struct fixture fx;
    size_t before, most = 0;

    (void)state;
    begin(&fx, EP_FOLD_END);
    before = used_bytes();
    memset(lines, '\n', sizeof(lines));
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct speech *it = &fx.speeches[rank];
        char own[16] = "";

        for (int i = 0; i < RECORDS; i++) {
            say(it, lines, sizeof(lines));
            put_record(&fx, rank, lines, sizeof(lines), false);
            event_base_loop(fx.base, EVLOOP_NONBLOCK);
        }
        sprintf(own, "%u\n", rank);
        say(it, own, strlen(own));
        it->sent_bytes = it->said_bytes;
        put_record(&fx, rank, own, strlen(own), true);
    }
    ep_folds_finish(fx.folds);
    while (fx.queue_first < fx.queue_last) {
        const size_t used = used_bytes();

        if (used > fx.whole_bytes && used - fx.whole_bytes > most)
            most = used - fx.whole_bytes;
        console_takes(&fx, 1);
    }
    /* A line that all have costs 64 bytes, and 8 more in each list of lines. */
    assert_true(most < before + RECORDS * LINES * 90);
    finish(&fx);
    end(&fx);
}

/* What is given up is counted, and all records come back. */
static void what_is_given_up_is_counted(void **state)
{
    struct fixture fx;

    (void)state;
    begin(&fx, EP_FOLD_LIVE);
    put_record(&fx, 0, "a\nb", 3, false);
    put_record(&fx, 1, "a\n", 2, false);
    console_takes(&fx, 10);
    assert_int_equal(fx.back, 2);
    assert_int_equal(ep_folds_pending(fx.folds), 1);
    ep_folds_give_up(fx.folds);
    put_record(&fx, 1, "c\n", 2, false);
    console_takes(&fx, 10);
    assert_int_equal(fx.back, 3);
    assert_int_equal(ep_folds_dropped(fx.folds), 7);
    assert_int_equal(fx.groups, 0);
    end(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ranks_are_whole),
        cmocka_unit_test(a_slow_console_holds_records),
        cmocka_unit_test(short_records_are_bounded),
        cmocka_unit_test(lines_in_hand_are_bounded),
        cmocka_unit_test(common_lines_are_there_once),
        cmocka_unit_test(a_long_line_goes_in_records),
        cmocka_unit_test(what_is_given_up_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
