/* Marks of processes, from an environment that anybody may have written: an
 * accepted mark that is printed and read again is the same. The input is a mark
 * and, after a NUL, the groups of a process as /proc lists them. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "endpoints/spawn/mark.h"
#include "overlay/base/err.h"

static void check_again(const struct ep_mark *mark)
{
    char text[EP_MARK_BYTES_MAX];
    struct ep_mark again;

    ep_mark_print(mark, text);
    FUZZ_CHECK(strncmp(text, EP_MARK_NAME "=", sizeof(EP_MARK_NAME)) == 0);
    FUZZ_CHECK(ep_mark_parse(text + sizeof(EP_MARK_NAME), &again) == 0);
    FUZZ_CHECK(again.session == mark->session && again.node == mark->node);
    FUZZ_CHECK(again.pid == mark->pid && again.start == mark->start);
    FUZZ_CHECK(again.place == mark->place);
    FUZZ_CHECK(strcmp(again.cgroup, mark->cgroup) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    char *text = malloc(len_bytes + 2), *groups;
    struct ep_mark mark;
    int rc;

    FUZZ_CHECK(text != NULL);
    if (len_bytes > 0)
        memcpy(text, mem, len_bytes);
    text[len_bytes] = text[len_bytes + 1] = '\0';
    groups = text + strlen(text) + 1;
    rc = ep_mark_parse(text, &mark);
    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc == 0) {
        FUZZ_CHECK(mark.pid > 0);
        FUZZ_CHECK(memchr(mark.cgroup, '\0', sizeof(mark.cgroup)) != NULL);
        check_again(&mark);
        FUZZ_CHECK(ep_mark_has_cgroup(&mark, groups) || mark.cgroup[0] != '\0');
    }
    free(text);
    return 0;
}
