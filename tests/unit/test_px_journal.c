/* The copy of what was redirected. */
#include "pmix_api/journal.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/chance.h"

enum {
    MEM_BYTES = 4000,
    FILE_BYTES = 20000,
    LEN_MAX = 900,
    KEPT_MAX = FILE_BYTES,
};

struct kept {
    uint64_t at;
    uint32_t len_bytes;
};

static uint8_t byte_at(uint64_t position)
{
    return (uint8_t)(position * 31 + position / 256);
}

static bool keep(struct px_journal *journal, const struct kept *kept,
                 bool is_end)
{
    struct px_output output = {.rank = (uint32_t)(kept->at % 5),
                               .channel = (uint8_t)(1 + kept->at % 3),
                               .is_end = is_end,
                               .len_bytes = kept->len_bytes};
    uint8_t mem[LEN_MAX];

    for (uint32_t i = 0; i < kept->len_bytes; i++)
        mem[i] = byte_at(kept->at + i);
    output.mem = mem;
    return px_journal_keep(journal, kept->at, &output);
}

static void expect(struct px_journal *journal, const struct kept *kept)
{
    static uint8_t mem[PX_OUTPUT_BYTES_MAX];
    struct px_journal_entry first, entry;

    assert_true(px_journal_peek(journal, &first));
    assert_true(px_journal_take(journal, &entry, mem));
    assert_int_equal(first.at, kept->at);
    assert_int_equal(entry.at, kept->at);
    assert_int_equal(entry.len_bytes, kept->len_bytes);
    assert_int_equal(entry.rank, kept->at % 5);
    assert_int_equal(entry.channel, 1 + kept->at % 3);
    for (uint32_t i = 0; i < kept->len_bytes; i++)
        assert_int_equal(mem[i], byte_at(kept->at + i));
}

static void open_journal(struct px_journal *journal)
{
    assert_int_equal(
        px_journal_open(journal, MEM_BYTES, FILE_BYTES, getenv("TMPDIR")), 0);
}

/* What is settled is gone, all else is there, in order, whatever comes when. */
static void what_is_not_settled_is_left(void **state)
{
    static struct kept all[KEPT_MAX];
    struct chance chance = chance_start(11);
    struct px_journal journal;
    unsigned first = 0, next = 0;
    uint64_t at = 0, left = 0;

    (void)state;
    open_journal(&journal);
    for (unsigned turn = 0; next < KEPT_MAX; turn++) {
        uint32_t len = chance_in(&chance, 0, LEN_MAX);
        uint64_t settled =
            first < next ? all[first].at + chance_in(&chance, 0, 3000) : at;

        if (chance_is(&chance, turn / 100 % 2 ? 90 : 50)) {
            all[next] = (struct kept){at, len};
            if (keep(&journal, &all[next], false)) {
                next++;
                left += len;
                at += len + chance_in(&chance, 0, 50); /* others' bytes */
            }
        } else {
            px_journal_settle(&journal, settled);
            while (first < next &&
                   all[first].at + all[first].len_bytes <= settled)
                left -= all[first++].len_bytes;
        }
        assert_int_equal(journal.left_bytes, left);
    }
    while (first < next)
        expect(&journal, &all[first++]);
    assert_int_equal(journal.left_bytes, 0);
    px_journal_close(&journal);
}

/* What did not fit is counted until it is settled elsewhere. */
static void what_does_not_fit_is_counted(void **state)
{
    struct kept kept = {.at = 0, .len_bytes = LEN_MAX};
    struct px_journal journal;

    (void)state;
    open_journal(&journal);
    for (; keep(&journal, &kept, false); kept.at += LEN_MAX)
        ;
    assert_int_equal(journal.unkept_bytes, LEN_MAX);
    px_journal_settle(&journal, kept.at + LEN_MAX - 1);
    assert_int_equal(journal.unkept_bytes, LEN_MAX);
    assert_int_equal(journal.left_bytes, 0);
    px_journal_settle(&journal, kept.at + LEN_MAX);
    assert_int_equal(journal.unkept_bytes, 0);
    px_journal_close(&journal);
}

static void an_end_is_kept_behind_its_bytes(void **state)
{
    static uint8_t mem[PX_OUTPUT_BYTES_MAX];
    const struct kept bytes = {.at = 100, .len_bytes = 10};
    const struct kept end = {.at = 110, .len_bytes = 0};
    struct px_journal_entry entry;
    struct px_journal journal;

    (void)state;
    open_journal(&journal);
    assert_true(keep(&journal, &bytes, false));
    assert_true(keep(&journal, &end, true));
    px_journal_settle(&journal, 109);
    expect(&journal, &bytes);
    assert_true(px_journal_take(&journal, &entry, mem));
    assert_true(entry.is_end);
    assert_false(px_journal_take(&journal, &entry, mem));
    assert_true(keep(&journal, &bytes, true));
    px_journal_settle(&journal, 110);
    assert_false(px_journal_peek(&journal, &entry));
    px_journal_skip(&journal);
    px_journal_close(&journal);
}

static unsigned reads;

/* In the place of libc's. */
ssize_t pread(int fd, void *mem, size_t len, off_t at)
{
    reads++;
    return syscall(SYS_pread64, fd, mem, len, at);
}

/* Short ones in the file are not read one by one. */
static void many_are_settled_with_few_reads(void **state)
{
    struct kept kept = {.at = 0, .len_bytes = 10};
    struct px_journal journal;

    (void)state;
    open_journal(&journal);
    for (; keep(&journal, &kept, false); kept.at += 10)
        ;
    reads = 0;
    px_journal_settle(&journal, kept.at - 10);
    assert_int_equal(journal.left_bytes, 10);
    assert_in_range(reads, 1, 10);
    kept.at -= 10;
    expect(&journal, &kept);
    px_journal_close(&journal);
}

/* A file that cannot be read leaves nothing, and that is counted, whoever looks
 * at it first. */
static void what_cannot_be_read_is_counted(void **state)
{
    struct kept kept = {.at = 0, .len_bytes = LEN_MAX};
    struct px_journal_entry entry;
    struct px_journal journal;
    uint64_t left;
    int none = open("/dev/null", O_WRONLY);

    (void)state;
    open_journal(&journal);
    for (; journal.spool.far.used_bytes == 0; kept.at += LEN_MAX)
        assert_true(keep(&journal, &kept, false));
    while (journal.spool.near.used_bytes > 0)
        px_journal_skip(&journal);
    left = journal.left_bytes;
    assert_true(left > 0);
    assert_int_equal(dup2(none, journal.spool.fd), journal.spool.fd);
    close(none);
    assert_false(px_journal_peek(&journal, &entry));
    assert_int_equal(journal.left_bytes, 0);
    assert_int_equal(journal.unkept_bytes, left);
    px_journal_close(&journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_settled_is_left),
        cmocka_unit_test(what_does_not_fit_is_counted),
        cmocka_unit_test(an_end_is_kept_behind_its_bytes),
        cmocka_unit_test(many_are_settled_with_few_reads),
        cmocka_unit_test(what_cannot_be_read_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
