/* The text of /proc/PID/stat, in which a process's name may contain anything:
 * an accepted text has the same meaning after the name in it is replaced. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "endpoints/sys/pid_stat.h"
#include "overlay/base/err.h"

static void check_renamed(const char *after, const struct ep_pid_stat *stat)
{
    static const char start[] = "7 (a) Z 1 (b)";
    char *text = malloc(sizeof(start) + strlen(after));
    struct ep_pid_stat again;

    FUZZ_CHECK(text != NULL);
    strcpy(text, start);
    strcat(text, after);
    FUZZ_CHECK(ep_pid_stat_parse(text, &again) == 0);
    FUZZ_CHECK(again.state == stat->state && again.parent == stat->parent);
    FUZZ_CHECK(again.flags == stat->flags && again.start == stat->start);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    char *text = malloc(len_bytes + 1);
    struct ep_pid_stat stat;
    uint64_t number;
    long call;
    int rc;

    FUZZ_CHECK(text != NULL);
    if (len_bytes > 0)
        memcpy(text, mem, len_bytes);
    text[len_bytes] = '\0';
    rc = ep_pid_stat_parse(text, &stat);
    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc == 0) {
        FUZZ_CHECK(ep_pid_stat_is_dead(&stat) ==
                   (stat.state == 'Z' || stat.state == 'X'));
        check_renamed(strrchr(text, ')') + 1, &stat);
    }
    rc = ep_pid_io_parse(text, &number);
    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    rc = ep_pid_syscall_parse(text, &call, &number);
    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    free(text);
    return 0;
}
