/* The only unlinked file that this process has open, which a spool has made. */
#ifndef TESTS_UNIT_SPILL_FILE_H
#define TESTS_UNIT_SPILL_FILE_H

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/rig.h"

/* Returns the size of the file; -1: there is no file. */
static inline int64_t spill_file_bytes(void)
{
    int64_t bytes = -1;
    struct stat st;

    for (int fd = 0; fd < 256; fd++) {
        if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_nlink > 0)
            continue;
        assert_int_equal(bytes, -1);
        bytes = st.st_size;
    }
    return bytes;
}

/* Waits until the thread has closed the file, which happens some time after its
 * store was closed. */
static inline void spill_file_until_gone(void)
{
    const uint64_t limit_ns = rig_now_ns() + RIG_LIMIT_S * UINT64_C(1000000000);

    while (spill_file_bytes() >= 0) {
        if (rig_now_ns() > limit_ns)
            fail_msg("the file is still there");
        sched_yield();
    }
}

/* Truncates the file to nothing, so that reads in it fail. */
static inline void spill_file_cut(void)
{
    struct stat st;

    for (int fd = 0; fd < 256; fd++) {
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0)
            assert_int_equal(ftruncate(fd, 0), 0);
    }
}

/* Limits the size of all files from now on, like a full disk. */
static inline void spill_file_limit(uint64_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

#endif
