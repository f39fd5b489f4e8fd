/* Golden bytes of SHARED frames, and what is refused in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/unit/bytes.h"

#include "overlay/base/err.h"
#include "overlay/wire/shared.h"

enum { LINES = 2, FRAME_BYTES = 12 + 8 + 24 + 40 + 5 };

static const struct ov_run one = {.source = 1,
                                  .rank = 0,
                                  .seq = 7,
                                  .line = 1,
                                  .times = 1,
                                  .lines = 1,
                                  .channel = OV_CHANNEL_STDERR,
                                  .flags = OV_RECORD_EOF};
static const struct ov_run many = {.source = 2,
                                   .rank = 1,
                                   .seq = 3,
                                   .line = 0,
                                   .times = 3,
                                   .rank_step = 4,
                                   .seq_step = 5,
                                   .lines = 2,
                                   .job = 9,
                                   .channel = OV_CHANNEL_STDOUT,
                                   .source_step = 1,
                                   .line_step = 1};

/* A frame of the two runs and the lines "abc" and "de". */
static struct ov_frame_head make_frame(uint8_t *mem)
{
    struct ov_frame_head head = {OV_FRAME_SHARED, 0, 2, FRAME_BYTES};
    struct ov_wr wr = ov_wr_init(mem, FRAME_BYTES);

    ov_frame_head_encode(&wr, &head);
    ov_wr_u32(&wr, LINES);
    ov_wr_u32(&wr, 3);
    ov_wr_u32(&wr, 5);
    ov_run_encode(&wr, &one);
    ov_run_encode(&wr, &many);
    ov_wr_bytes(&wr, "abcde", 5);
    assert_false(wr.bad);
    assert_ptr_equal(wr.at, wr.end);
    return head;
}

static void frame_has_a_table_and_runs(void **state)
{
    uint8_t mem[FRAME_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_frame_head head = make_frame(mem);
    struct ov_shared shared;
    uint32_t len_bytes;

    (void)state;
    wr.at = wr.end;
    assert_bytes(&wr, mem,
                 "04 00 0200 59000000 02000000 03000000 05000000 "
                 "01000000 00000000 0700000000000000 0000 02 01 01000000 "
                 "02000000 01000000 0300000000000000 0900 01 80 00000000 "
                 "03000000 04000000 05000000 0200 01 01 6162636465");
    assert_int_equal(ov_shared_decode(mem, &head, &shared), 0);
    assert_int_equal(shared.runs_off, 20);
    assert_int_equal(shared.lines_off, 84);
    assert_int_equal(ov_shared_line(mem, &shared, 0, &len_bytes), 84);
    assert_int_equal(len_bytes, 3);
    assert_int_equal(ov_shared_line(mem, &shared, 1, &len_bytes), 87);
    assert_int_equal(len_bytes, 2);
}

static void records_come_group_by_group(void **state)
{
    static const struct {
        uint32_t source, rank, payload, len_bytes;
        uint64_t seq;
    } want[] = {
        {1, 0, 87, 2, 7},  {2, 1, 84, 3, 3}, {2, 1, 87, 2, 4},
        {3, 5, 84, 3, 8},  {3, 5, 87, 2, 9}, {4, 9, 84, 3, 13},
        {4, 9, 87, 2, 14},
    };
    uint8_t mem[FRAME_BYTES];
    struct ov_record rec;
    struct ov_up_at at;

    (void)state;
    make_frame(mem);
    at = ov_up_begin(mem, sizeof(mem));
    for (unsigned i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        assert_true(at.left > 0);
        assert_int_equal(ov_up_next(mem, sizeof(mem), &at, &rec),
                         want[i].payload);
        assert_int_equal(rec.source, want[i].source);
        assert_int_equal(rec.rank, want[i].rank);
        assert_int_equal(rec.seq, want[i].seq);
        assert_int_equal(rec.len_bytes, want[i].len_bytes);
        assert_int_equal(rec.flags, i == 0 ? OV_RECORD_EOF : 0);
        assert_int_equal(rec.job, i == 0 ? 0 : 9);
    }
    assert_int_equal(at.left, 0);
}

static void plain_records_are_read_in_the_same_way(void **state)
{
    uint8_t mem[8 + 48 + 7];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_record rec = {
        .source = 1, .seq = 1, .len_bytes = 4, .channel = OV_CHANNEL_STDOUT};
    struct ov_record back;
    struct ov_up_at at;

    (void)state;
    ov_frame_head_encode(
        &wr, &(struct ov_frame_head){OV_FRAME_UP, 0, 2, sizeof(mem)});
    ov_record_encode(&wr, &rec);
    rec.len_bytes = 3;
    rec.seq = 2;
    ov_record_encode(&wr, &rec);
    at = ov_up_begin(mem, sizeof(mem));
    assert_int_equal(ov_up_next(mem, sizeof(mem), &at, &back), 56);
    assert_int_equal(back.seq, 1);
    assert_int_equal(ov_up_next(mem, sizeof(mem), &at, &back), 60);
    assert_memory_equal(&rec, &back, sizeof(rec));
    assert_int_equal(at.left, 0);
}

/* The frame decodes, and does not with this byte changed. */
static void refuse(uint32_t at, uint8_t byte)
{
    uint8_t mem[FRAME_BYTES];
    struct ov_frame_head head = make_frame(mem);
    struct ov_shared shared;

    assert_int_equal(ov_shared_decode(mem, &head, &shared), 0);
    mem[at] = byte;
    assert_int_equal(ov_shared_decode(mem, &head, &shared), OV_EPROTO);
}

static void frames_must_add_up(void **state)
{
    (void)state;
    refuse(8, 0);        /* no lines */
    refuse(8, 3);        /* a line more than there are ends */
    refuse(11, 0xff);    /* more than the frame has room for */
    refuse(12, 6);       /* a line ends before the one before */
    refuse(16, 6);       /* the lines reach into the runs */
    refuse(19, 0xff);    /* the lines are more than the frame */
    refuse(20 + 8, 0);   /* number 0 */
    refuse(20 + 15, 64); /* a number beyond all */
    refuse(20 + 18, OV_CHANNELS);
    refuse(20 + 19, 2);    /* a flag that nobody knows */
    refuse(20 + 20, 2);    /* a line that is not there */
    refuse(44 + 20, 1);    /* the second one is not there */
    refuse(44 + 24, 0);    /* no group */
    refuse(44 + 36, 0);    /* no line */
    refuse(44 + 27, 0xff); /* more records than a frame may have */
}

/* Each field of a run of several records has its range. */
static void refuse_run(struct ov_run run)
{
    uint8_t mem[OV_RUN_MANY_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_rd rd = ov_rd_init(mem, sizeof(mem));
    struct ov_run back;

    ov_run_encode(&wr, &run);
    assert_int_equal(ov_run_decode(&rd, &back), OV_EPROTO);
}

static void runs_have_one_form(void **state)
{
    uint8_t mem[OV_RUN_MANY_BYTES];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct ov_rd rd = ov_rd_init(mem, sizeof(mem));
    struct ov_run run = many, back;

    (void)state;
    ov_run_encode(&wr, &run);
    assert_int_equal(ov_run_decode(&rd, &back), 0);
    assert_memory_equal(&run, &back, sizeof(run));
#define REFUSE(change)                                                         \
    do {                                                                       \
        run = many;                                                            \
        change;                                                                \
        refuse_run(run);                                                       \
    } while (0)
    REFUSE(run.source_step = 2);
    REFUSE(run.line_step = 2);
    REFUSE(run.lines = 1);                           /* one line has no step */
    REFUSE(run.times = 1);                           /* one group has no step */
    REFUSE((run.source_step = 0, run.seq_step = 1)); /* numbers come twice */
    REFUSE(run.source = UINT32_MAX - 1);
    REFUSE(run.rank = UINT32_MAX - 7);
    REFUSE(run.times = OV_SHARED_RECORDS_MAX);
#undef REFUSE
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frame_has_a_table_and_runs),
        cmocka_unit_test(records_come_group_by_group),
        cmocka_unit_test(plain_records_are_read_in_the_same_way),
        cmocka_unit_test(frames_must_add_up),
        cmocka_unit_test(runs_have_one_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
