/* The console under load: long lines, floods of output, the spool, and random
 * jobs. */
#include "config.h"

#include "endpoints/console/console.h"

#include "tests/unit/console_job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "endpoints/console/port.h"

/* ---- long lines ---- */

/* The buffers of all other processes are given back before the rest of the line
 * comes, because the rest could wait behind them. */
static void a_line_waits_for_its_rest_behind_50_MB(void **state)
{
    struct job *job = job_new(TEXT_LABEL_RANK);

    (void)state;
    job_start(job);
    speech_line(job, 0, 10 << 20, true);
    speech_send(job, 0, JOB_PIECE, false);
    rig_taken(&job->rig, 1);
    for (int i = 0; i < 50; i++) {
        job_flood(job, 2 + 2 * (unsigned)(i % 7), 1 << 20);
        if (i == 0)
            rig_pass(&job->rig, 150);
        rig_taken(&job->rig, job->rig.sent);
    }
    rig_pass(&job->rig, 700);
    speech_send_all(job, 0);
    job_check(job);
    assert_int_equal(job->torn, 0);
    assert_int_equal(job->rig.notes, 0);
    job_free(job);
}

/* Pieces of several long lines lie mixed in the spool, with short lines between
 * them, and each line is written as a whole. */
static void mixed_long_lines_are_sorted_out(void **state)
{
    struct job *job = job_new(TEXT_LABEL_NONE);

    (void)state;
    job->rig.cfg.merge_stderr = true;
    job->rig.cfg.park_limit_bytes = JOB_PIECE;
    job_start(job);
    for (unsigned source = 0; source < 8; source++)
        speech_line(job, source, 3 << 20, true);
    for (int i = 0; i < (3 << 20) / JOB_PIECE; i++) {
        for (unsigned source = 0; source < 8; source++)
            speech_send(job, source, JOB_PIECE, false);
        speech_line(job, 8 + (unsigned)i % 3, 20, true);
        speech_send_all(job, 8 + (unsigned)i % 3);
        event_base_loop(job->rig.base, EVLOOP_NONBLOCK);
    }
    for (unsigned source = 8; source-- > 0;)
        speech_send_all(job, source);
    job_check(job);
    assert_int_equal(job->torn, 0);
    job_free(job);
}

/* The rest of the line may come after other output that keeps coming for more
 * than five seconds. */
static void a_flood_is_no_pause(void **state)
{
    struct job *job = job_new(TEXT_LABEL_RANK);

    (void)state;
    job_start(job);
    speech_line(job, 0, 1000, true);
    speech_send(job, 0, 100, false);
    rig_taken(&job->rig, 1);
    for (int i = 0; i < 20; i++) {
        job_flood(job, 2, EP_PORT_BUSY_BYTES / 3);
        rig_taken(&job->rig, job->rig.sent);
        rig_pass(&job->rig, 250);
    }
    speech_send_all(job, 0);
    job_check(job);
    assert_int_equal(job->torn, 0);
    job_free(job);
}

/* ... but it waits no longer than for one round of all outputs. */
static void a_prompt_in_a_flood_gives_way_after_a_round(void **state)
{
    struct job *job = job_new(TEXT_LABEL_RANK);

    (void)state;
    job->rig.cfg.round_bytes = 8 << 20;
    job_start(job);
    speech_line(job, 0, 1000, true);
    speech_send(job, 0, 100, false);
    rig_taken(&job->rig, 1);
    job_flood(job, 2, 10 << 20);
    rig_taken(&job->rig, job->rig.sent);
    rig_pass(&job->rig, 900);
    assert_true(ep_console_pending(job->rig.con) >= 160);
    rig_pass(&job->rig, 200);
    rig_run_until(job->rig.base, &job->rig.drained, 1);
    speech_send_all(job, 0);
    job_check(job);
    assert_int_equal(job->torn, 1);
    job_free(job);
}

/* ---- the spool's ends ---- */

/* Nothing is lost: output that does not fit waits, and the line is interrupted
 * after a second. */
static void others_wait(struct job *job, unsigned taken_max)
{
    job_start(job);
    speech_line(job, 0, 1000, true);
    speech_send(job, 0, 100, false);
    rig_taken(&job->rig, 1);
    job_flood(job, 2, 8 << 20);
    job_flood(job, 4, 8 << 20);
    rig_run_until(job->rig.base, &job->rig.notes, 1);
    assert_non_null(strstr(job->rig.note, "rank 0 "));
    rig_pass(&job->rig, 900);
    assert_true(job->rig.taken < taken_max);
    rig_pass(&job->rig, 200);
    rig_taken(&job->rig, job->rig.sent);
    speech_send_all(job, 0);
    job_check(job);
    assert_int_equal(job->torn, 1);
    assert_int_equal(job->rig.notes, 1);
    job_free(job);
}

static void with_a_full_spool_others_wait(void **state)
{
    struct job *job = job_new(TEXT_LABEL_RANK);

    (void)state;
    job->rig.cfg.spool_limit_bytes = 4 << 20;
    others_wait(job, 1 + (4 << 20) / JOB_PIECE);
}

static void without_a_place_for_the_spool_others_wait(void **state)
{
    struct job *job = job_new(TEXT_LABEL_RANK);

    (void)state;
    job->rig.cfg.spool_dir = "/nowhere/at/all";
    others_wait(job, 1 + (2 << 20) / JOB_PIECE);
}

/* The disk becomes full in the middle of a block. */
static void with_a_full_disk_others_wait(void **state)
{
    const struct rlimit small = {.rlim_cur = 1000000,
                                 .rlim_max = RLIM_INFINITY};
    struct rlimit before;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    others_wait(job_new(TEXT_LABEL_RANK), 1 + (4 << 20) / JOB_PIECE);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

/* The second flood finds room on the disk again. */
static void a_disk_that_has_room_again_is_used_again(void **state)
{
    const struct rlimit small = {.rlim_cur = 1000000,
                                 .rlim_max = RLIM_INFINITY};
    struct job *job = job_new(TEXT_LABEL_RANK);
    struct rlimit before;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    job_start(job);
    speech_line(job, 0, 1000, true);
    speech_send(job, 0, 100, false);
    rig_taken(&job->rig, 1);
    job_flood(job, 2, 8 << 20);
    rig_run_until(job->rig.base, &job->rig.notes, 1);
    speech_send_all(job, 0);
    rig_run_until(job->rig.base, &job->rig.drained, 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    speech_line(job, 0, 1000, true);
    speech_send(job, 0, 100, false);
    rig_taken(&job->rig, job->rig.sent);
    job_flood(job, 2, 8 << 20);
    rig_taken(&job->rig, job->rig.sent);
    speech_send_all(job, 0);
    job_check(job);
    assert_int_equal(job->torn, 0);
    job_free(job);
}

static void without_a_spool_others_wait_silently(void **state)
{
    struct job *job = job_new(TEXT_LABEL_RANK);

    (void)state;
    job->rig.cfg.spool_limit_bytes = 0;
    job_start(job);
    speech_line(job, 0, 1000, true);
    speech_send(job, 0, 100, false);
    rig_taken(&job->rig, 1);
    job_flood(job, 2, 4 << 20);
    rig_pass(&job->rig, 900);
    assert_int_equal(job->rig.taken, 1);
    rig_pass(&job->rig, 200);
    rig_taken(&job->rig, job->rig.sent);
    speech_send_all(job, 0);
    job_check(job);
    assert_int_equal(job->torn, 1);
    assert_int_equal(job->rig.notes, 0);
    job_free(job);
}

/* There are ten floods, each nearly as large as the spool. */
static void an_emptied_spool_has_its_room_again(void **state)
{
    struct job *job = job_new(TEXT_LABEL_NONE);

    (void)state;
    job->rig.cfg.spool_limit_bytes = 6 << 20;
    job_start(job);
    for (int i = 0; i < 10; i++) {
        const unsigned drained = job->rig.drained;

        speech_line(job, 0, 1000, true);
        speech_send(job, 0, 100, false);
        rig_taken(&job->rig, job->rig.sent);
        job_flood(job, 2, 5 << 20);
        rig_taken(&job->rig, job->rig.sent);
        speech_send_all(job, 0);
        rig_run_until(job->rig.base, &job->rig.drained, drained + 1);
    }
    job_check(job);
    assert_int_equal(job->torn, 0);
    assert_int_equal(job->rig.notes, 0);
    job_free(job);
}

/* Most of the output is in the spool, and a part is being written to a pipe
 * that is not read. */
static void giving_up_drops_what_is_spooled(void **state)
{
    struct job *job = job_new(TEXT_LABEL_NONE);

    (void)state;
    rig_open(&job->rig);
    speech_line(job, 0, 100, true);
    speech_send(job, 0, 50, false);
    rig_taken(&job->rig, 1);
    job_flood(job, 2, 8 << 20);
    rig_taken(&job->rig, job->rig.sent);
    assert_int_equal(ep_console_dropped(job->rig.con), 0);
    speech_send_all(job, 0);
    ep_console_give_up(job->rig.con);
    rig_taken(&job->rig, job->rig.sent);
    rig_run_until(job->rig.base, &job->rig.drained, 1);
    assert_int_equal(ep_console_pending(job->rig.con), 0);
    assert_true(ep_console_dropped(job->rig.con) > 7 << 20);
    rig_close(&job->rig);
    job_free(job);
}

static void a_reader_that_leaves_ends_the_spool(void **state)
{
    struct job *job = job_new(TEXT_LABEL_RANK);
    char some[4096];

    (void)state;
    rig_open(&job->rig);
    speech_line(job, 0, 100, true);
    speech_send(job, 0, 50, false);
    rig_taken(&job->rig, 1);
    job_flood(job, 2, 8 << 20);
    rig_taken(&job->rig, job->rig.sent);
    speech_send_all(job, 0);
    assert_true(read(job->rig.out_fd, some, sizeof(some)) > 0);
    close(job->rig.out_fd);
    job->rig.out_fd = -1;
    rig_run_until(job->rig.base, &job->rig.errors, 1);
    assert_int_equal(job->rig.err, EPIPE);
    job_flood(job, 2, 1 << 20);
    rig_taken(&job->rig, job->rig.sent);
    rig_close(&job->rig);
    job_free(job);
}

/* ---- random jobs ---- */

static size_t random_length(uint64_t *seed)
{
    uint32_t kind = rig_random(seed) % 100;

    if (kind < 60)
        return rig_random(seed) % 80;
    if (kind < 90)
        return rig_random(seed) % 300;
    if (kind < 96)
        return 3000;
    if (kind < 99)
        return 10000;
    return 60000 + rig_random(seed) % 140000;
}

static void speak_of_job(struct job *job, uint64_t *seed, unsigned sources,
                         unsigned lines)
{
    for (unsigned i = 0; i < lines; i++)
        speech_line(job,
                    (rig_random(seed) % sources) *
                        (job->rig.cfg.merge_stderr ? 1 : 2),
                    random_length(seed), true);
    for (unsigned source = 0; source < JOB_SOURCES_MAX; source += 3) {
        if (job->all[source].len_bytes > 0)
            speech_line(job, source, 30, false);
    }
    /* adds some NUL bytes */
    for (unsigned i = 0; i < lines; i++) {
        struct speech *sp = &job->all[rig_random(seed) % JOB_SOURCES_MAX];
        size_t at = sp->len_bytes == 0 ? 0 : rig_random(seed) % sp->len_bytes;

        if (sp->len_bytes > 0 && sp->mem[at] >= 'a')
            sp->mem[at] = '\0';
    }
}

/* Returns the length of a random record: mostly whole lines, at times any
 * bytes. */
static size_t random_cut(const struct speech *sp, uint64_t *seed)
{
    const uint8_t *from = sp->mem + sp->sent_bytes;
    const size_t left = speech_left(sp);
    size_t len =
        1 + rig_random(seed) % (rig_random(seed) % 8 ? 2000 : JOB_PIECE);
    const uint8_t *newline;

    if (len >= left)
        return left < JOB_PIECE ? left : JOB_PIECE;
    if (rig_random(seed) % 5 == 0)
        return len;
    newline = memchr(from + len, '\n', left - len);
    if (newline != NULL && newline - from < JOB_PIECE)
        return (size_t)(newline - from) + 1;
    return len;
}

static void run_of_job(struct job *job, uint64_t *seed, bool with_time)
{
    unsigned left = 0;

    for (unsigned i = 0; i < JOB_SOURCES_MAX; i++)
        left += job->all[i].len_bytes > 0;
    while (left > 0) {
        unsigned source = rig_random(seed) % JOB_SOURCES_MAX;
        struct speech *sp = &job->all[source];
        bool is_last;

        if (speech_left(sp) == 0)
            continue;
        speech_send(job, source, random_cut(sp, seed), false);
        is_last = speech_left(sp) == 0;
        left -= is_last;
        if (is_last && rig_random(seed) % 4 > 0)
            speech_send(job, source, 0, true);
        if (rig_random(seed) % 4 == 0)
            event_base_loop(job->rig.base, EVLOOP_NONBLOCK);
        if (with_time && rig_random(seed) % 40 == 0)
            rig_pass(&job->rig, 300);
    }
}

static void random_job(enum text_label_mode label, bool with_time)
{
    static uint64_t next_seed = 20240;
    uint64_t seed = next_seed++;
    struct job *job = job_new(label);
    const unsigned sources = 3 + rig_random(&seed) % 35;

    print_message("seed %llu\n", (unsigned long long)(next_seed - 1));
    job->rig.cfg.merge_stderr = label == TEXT_LABEL_FULL;
    job->rig.cfg.park_limit_bytes = UINT64_C(1)
                                    << (10 + rig_random(&seed) % 11);
    job->rig.cfg.park_limit_records = 4u << (rig_random(&seed) % 10);
    speak_of_job(job, &seed, sources, 1500);
    job_start(job);
    run_of_job(job, &seed, with_time);
    job_check(job);
    if (!with_time)
        assert_int_equal(job->torn, 0);
    job_free(job);
}

static void random_jobs_keep_every_line_whole(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        random_job(TEXT_LABEL_NONE, false);
        random_job(TEXT_LABEL_RANK, false);
        random_job(TEXT_LABEL_FULL, false);
    }
}

/* Pauses tear lines; no byte is lost, doubled, or written in another process's
 * line. */
static void random_jobs_with_pauses_keep_every_byte(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        random_job(TEXT_LABEL_RANK, true);
        random_job(TEXT_LABEL_FULL, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_waits_for_its_rest_behind_50_MB),
        cmocka_unit_test(mixed_long_lines_are_sorted_out),
        cmocka_unit_test(a_flood_is_no_pause),
        cmocka_unit_test(a_prompt_in_a_flood_gives_way_after_a_round),
        cmocka_unit_test(with_a_full_spool_others_wait),
        cmocka_unit_test(without_a_place_for_the_spool_others_wait),
        cmocka_unit_test(with_a_full_disk_others_wait),
        cmocka_unit_test(a_disk_that_has_room_again_is_used_again),
        cmocka_unit_test(without_a_spool_others_wait_silently),
        cmocka_unit_test(an_emptied_spool_has_its_room_again),
        cmocka_unit_test(giving_up_drops_what_is_spooled),
        cmocka_unit_test(a_reader_that_leaves_ends_the_spool),
        cmocka_unit_test(random_jobs_keep_every_line_whole),
        cmocka_unit_test(random_jobs_with_pauses_keep_every_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
