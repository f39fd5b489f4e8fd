/* Folding records into SHARED frames: what is one run, and that each source has
 * its records again, in order and to the last byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/fold.h"
#include "tests/unit/chance.h"

enum { FRAME_BYTES = 65536, BUFS = 64, TEXT_BYTES = 4096 };

static struct ov_fold *fold;
static struct ov_out *out;
static struct ov_buf bufs[BUFS];
static unsigned bufs_used;
static char text[TEXT_BYTES];

static struct ov_buf *new_buf(void)
{
    struct ov_buf *buf = &bufs[bufs_used++];

    assert_true(bufs_used <= BUFS);
    if (buf->mem == NULL)
        buf->mem = malloc(FRAME_BYTES);
    assert_non_null(buf->mem);
    buf->refs = 1;
    buf->len_bytes = 0;
    return buf;
}

/* An UP frame of these records, each `source.number:line`; the rank of each is
 * that of its source, less one. */
static struct ov_buf *frame(const char *words)
{
    struct ov_buf *buf = new_buf();
    struct ov_wr wr = ov_wr_init(buf->mem, FRAME_BYTES);
    struct ov_frame_head head = {.type = OV_FRAME_UP,
                                 .len_bytes = OV_FRAME_HEAD_BYTES};
    char copy[TEXT_BYTES], lines[TEXT_BYTES] = "", *save;

    ov_wr_room(&wr, OV_FRAME_HEAD_BYTES);
    snprintf(copy, sizeof(copy), "%s", words);
    for (char *word = strtok_r(copy, " ", &save); word != NULL;
         word = strtok_r(NULL, " ", &save)) {
        struct ov_record rec = {.channel = OV_CHANNEL_STDOUT};
        char line[64] = "";
        unsigned source, seq;

        assert_true(sscanf(word, "%u.%u:%63s", &source, &seq, line) >= 2);
        rec.source = source;
        rec.rank = source - 1;
        rec.seq = seq;
        rec.len_bytes = (uint32_t)strlen(line);
        ov_record_encode(&wr, &rec);
        strcat(lines, line);
        head.count++;
    }
    ov_wr_bytes(&wr, lines, strlen(lines));
    head.len_bytes = buf->len_bytes = (uint32_t)(wr.at - buf->mem);
    wr = ov_wr_init(buf->mem, OV_FRAME_HEAD_BYTES);
    ov_frame_head_encode(&wr, &head);
    return buf;
}

/* Writes what was folded into a buffer. */
static struct ov_buf *written(void)
{
    struct ov_buf *buf = new_buf();
    struct ov_act *act;

    ov_out_reset(out);
    act = ov_out_act(out, OV_ACT_SEND);
    ov_fold_write(fold, 0, act, out);
    memcpy(buf->mem, out->head, act->head_bytes);
    buf->len_bytes = act->head_bytes;
    for (unsigned i = 0; i < act->slices; i++) {
        const struct ov_slice *slice = &out->slice[i];

        memcpy(buf->mem + buf->len_bytes, slice->buf->mem + slice->off_bytes,
               slice->len_bytes);
        buf->len_bytes += slice->len_bytes;
    }
    assert_int_equal(buf->len_bytes, ov_fold_bytes(fold));
    return buf;
}

/* Says which runs a frame has: `source.number` and, of several records, groups
 * x lines; then its lines by number. */
static const char *runs_of(const struct ov_buf *buf)
{
    struct ov_frame_head head;
    struct ov_shared shared;
    struct ov_run run;
    struct ov_rd rd;

    assert_int_equal(ov_frame_head_decode(buf->mem, buf->len_bytes, &head), 0);
    assert_int_equal(ov_shared_decode(buf->mem, &head, &shared), 0);
    rd = ov_rd_init(buf->mem + shared.runs_off,
                    shared.lines_off - shared.runs_off);
    text[0] = '\0';
    for (uint32_t i = 0; i < shared.runs; i++) {
        size_t len = strlen(text);

        assert_int_equal(ov_run_decode(&rd, &run), 0);
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u.%u",
                                i > 0 ? " " : "", (unsigned)run.source,
                                (unsigned)run.seq);
        if (ov_run_records(&run) > 1)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "[%ux%u]",
                                    (unsigned)run.times, (unsigned)run.lines);
        len += (size_t)snprintf(text + len, sizeof(text) - len, ":%u",
                                (unsigned)run.line);
        if (run.line_step > 0)
            snprintf(text + len, sizeof(text) - len, "-%u",
                     (unsigned)run.line + run.lines - 1u);
    }
    return text;
}

/* Folds frames of one place each. */
static const char *folded(const char *const *frames, unsigned count)
{
    bufs_used = 0;
    ov_fold_begin(fold, FRAME_BYTES);
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            ov_fold_switch(fold, 0);
        ov_fold_frame(fold, frame(frames[i]));
    }
    return runs_of(written());
}

#define FOLDED(...)                                                            \
    folded((const char *const[]){__VA_ARGS__},                                 \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void equal_lines_of_neighbours_are_one_run(void **state)
{
    (void)state;
    assert_string_equal(FOLDED("1.1:a", "2.1:a", "3.1:a"), "1.1[3x1]:0");
    assert_string_equal(FOLDED("1.1:a", "2.1:b", "3.1:a"), "1.1:0 2.1:1 3.1:0");
    assert_string_equal(FOLDED("1.1:a", "3.1:a", "2.1:a"), "1.1[2x1]:0 3.1:0");
    /* The numbers of a level go on in the next place. */
    assert_string_equal(FOLDED("1.1:a 3.1:a 4.1:a", "2.1:a 5.1:a 6.1:a"),
                        "1.1[2x1]:0 3.1[4x1]:0");
    /* A record without bytes is a line, too. */
    assert_string_equal(FOLDED("1.1: 1.2:a", "2.1: 2.2:a"), "1.1[2x2]:0-1");
}

static void lines_of_a_source_are_one_run(void **state)
{
    (void)state;
    assert_string_equal(FOLDED("1.1:a 1.2:b 1.3:c", "2.1:a 2.2:b 2.3:c"),
                        "1.1[2x3]:0-2");
    assert_string_equal(FOLDED("1.1:a 1.2:a 1.3:a", "2.4:a 2.5:a 2.6:a"),
                        "1.1[2x3]:0");
    assert_string_equal(FOLDED("1.1:a 1.2:b 1.4:c"), "1.1[1x2]:0-1 1.4:2");
    /* The order of lines is that of whoever was first. */
    assert_string_equal(FOLDED("1.1:a 1.2:b", "2.1:b 2.2:a"),
                        "1.1[1x2]:0-1 2.1:1 2.2:0");
}

/* What a place says later may not come before what it has said: here the second
 * line of source 2, although there is a run that it would continue. */
static void no_record_comes_before_an_earlier_one(void **state)
{
    (void)state;
    assert_string_equal(FOLDED("1.2:b 1.3:c 1.9:a", "2.8:a 2.9:b 2.10:d"),
                        "1.2[1x2]:0-1 1.9:2 2.8:2 2.9:0 2.10:3");
    assert_string_equal(FOLDED("1.2:b 1.9:a", "2.9:a 2.10:b"),
                        "1.2:0 1.9[2x1]:1 2.10:0");
}

/* A frame that was folded is folded again, with runs of several groups. */
static void folded_frames_are_folded_again(void **state)
{
    struct ov_buf *one, *two;

    (void)state;
    FOLDED("1.1:a 1.2:b", "2.1:a 2.2:b");
    one = &bufs[bufs_used - 1];
    ov_fold_begin(fold, FRAME_BYTES);
    ov_fold_frame(fold, frame("3.1:a 3.2:b"));
    ov_fold_switch(fold, 0);
    ov_fold_frame(fold, frame("4.1:a 4.2:b"));
    two = written();
    ov_fold_begin(fold, FRAME_BYTES);
    ov_fold_frame(fold, one);
    ov_fold_switch(fold, 0);
    ov_fold_frame(fold, two);
    assert_string_equal(runs_of(written()), "1.1[4x2]:0-1");
    /* Its lines are in another order here. */
    ov_fold_begin(fold, FRAME_BYTES);
    ov_fold_frame(fold, frame("9.1:b 9.2:a"));
    ov_fold_switch(fold, 0);
    ov_fold_frame(fold, one);
    assert_string_equal(runs_of(written()),
                        "9.1[1x2]:0-1 1.1[2x1]:1 1.2[2x1]:0");
}

/* What does not fit is taken out again. */
static void a_frame_goes_back_to_where_it_was(void **state)
{
    (void)state;
    bufs_used = 0;
    ov_fold_begin(fold, 100);
    ov_fold_frame(fold, frame("1.1:a"));
    assert_true(ov_fold_fits(fold));
    ov_fold_save(fold);
    ov_fold_switch(fold, 0);
    ov_fold_frame(fold, frame("2.1:a 3.1:b 4.1:c 5.1:d"));
    assert_false(ov_fold_fits(fold));
    ov_fold_restore(fold);
    ov_fold_switch(fold, 0);
    ov_fold_frame(fold, frame("2.1:a 2.2:c"));
    assert_true(ov_fold_fits(fold));
    assert_string_equal(runs_of(written()), "1.1:0 2.1[1x2]:0-1");
}

/* --- at random */

enum { SOURCES = 12, PLACES = 4, PIECES = 10, LINES_MAX = 60 };

static struct {
    unsigned made[SOURCES];
    char line[SOURCES][LINES_MAX][8];
} world;

/* A frame of the next records of the sources of a place. Some write what all
 * write. */
static struct ov_buf *some_frame(struct chance *chance, unsigned place)
{
    unsigned records = chance_in(chance, 1, 12);
    char words[TEXT_BYTES] = "";

    for (unsigned i = 0; i < records; i++) {
        unsigned source = place + PLACES * chance_in(chance, 0, 2);
        unsigned seq = world.made[source];
        char *line = world.line[source][seq];
        size_t len = strlen(words);

        if (seq == LINES_MAX)
            continue;
        snprintf(line, 8, "%c",
                 (char)('a' + (chance_in(chance, 0, 3) > 0
                                   ? seq % 5
                                   : chance_in(chance, 0, 9))));
        world.made[source]++;
        snprintf(words + len, sizeof(words) - len, " %u.%u:%s", source + 1,
                 seq + 1, line);
    }
    return words[0] == '\0' ? NULL : frame(words);
}

/* Reads a frame to its end: each source goes on where it was. */
static void read_back(const struct ov_buf *buf, unsigned *shown)
{
    struct ov_up_at at = ov_up_begin(buf->mem, buf->len_bytes);
    struct ov_record rec;

    while (at.left > 0) {
        uint32_t off = ov_up_next(buf->mem, buf->len_bytes, &at, &rec);
        unsigned source = rec.source - 1;
        const char *line = world.line[source][shown[source]];

        assert_int_equal(rec.rank, rec.source - 1);
        assert_int_equal(rec.seq, ++shown[source]);
        assert_int_equal(rec.len_bytes, strlen(line));
        assert_memory_equal(buf->mem + off, line, rec.len_bytes);
    }
}

/* Folds pieces of several places, as they come, some of them folded before. */
static void each_source_has_its_records_in_order(void **state)
{
    struct chance chance = {1};

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        uint32_t cursor[PLACES] = {0};
        unsigned shown[SOURCES] = {0}, last = PLACES;
        struct ov_buf *piece[PIECES];
        unsigned place[PIECES];

        memset(&world, 0, sizeof(world));
        bufs_used = 0;
        for (unsigned i = 0; i < PIECES; i++) {
            place[i] = chance_in(&chance, 0, PLACES - 1);
            piece[i] = some_frame(&chance, place[i]);
            if (piece[i] == NULL || chance_in(&chance, 0, 1) == 0)
                continue;
            ov_fold_begin(fold, FRAME_BYTES);
            ov_fold_frame(fold, piece[i]);
            piece[i] = written();
        }
        ov_fold_begin(fold, FRAME_BYTES);
        for (unsigned i = 0; i < PIECES; i++) {
            if (piece[i] == NULL)
                continue;
            if (last < PLACES && last != place[i])
                cursor[last] = ov_fold_switch(fold, cursor[place[i]]);
            last = place[i];
            ov_fold_frame(fold, piece[i]);
        }
        read_back(written(), shown);
        for (unsigned i = 0; i < SOURCES; i++)
            assert_int_equal(shown[i], world.made[i]);
    }
}

static int open_all(void **state)
{
    (void)state;
    fold = calloc(1, sizeof(*fold));
    out = calloc(1, sizeof(*out));
    return fold == NULL || out == NULL;
}

static int close_all(void **state)
{
    (void)state;
    for (unsigned i = 0; i < BUFS; i++)
        free(bufs[i].mem);
    free(fold);
    free(out);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_lines_of_neighbours_are_one_run),
        cmocka_unit_test(lines_of_a_source_are_one_run),
        cmocka_unit_test(no_record_comes_before_an_earlier_one),
        cmocka_unit_test(folded_frames_are_folded_again),
        cmocka_unit_test(a_frame_goes_back_to_where_it_was),
        cmocka_unit_test(each_source_has_its_records_in_order),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
