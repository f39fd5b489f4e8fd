/* Files of /proc and of control groups about a machine: whatever the files
 * contain, the results are within bounds. The input is the contents of the
 * files, separated by NULs. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "endpoints/sys/room.h"
#include "tests/fuzz/file.h"

static const char *const names[] = {
    "proc/self/cgroup",
    "proc/meminfo",
    "proc/loadavg",
    "proc/sys/kernel/pid_max",
    "proc/sys/kernel/threads-max",
    "sys/fs/cgroup/a/pids.max",
    "sys/fs/cgroup/a/pids.current",
    "sys/fs/cgroup/a/memory.max",
    "sys/fs/cgroup/a/memory.current",
    "sys/fs/cgroup/a/memory.stat",
    "sys/fs/cgroup/a/cpu.max",
};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    const char *at = (const char *)mem, *end = at + len_bytes;
    struct ep_room room;

    for (unsigned i = 0; i < NAMES; i++) {
        const char *nul = at < end ? memchr(at, '\0', (size_t)(end - at)) : end;

        if (nul == NULL)
            nul = end;
        fuzz_folder_put(names[i], at, (size_t)(nul - at));
        at = nul < end ? nul + 1 : end;
    }
    ep_room_read_at(fuzz_folder(), &room);
    FUZZ_CHECK(room.processors > 0);
    FUZZ_CHECK(room.tasks < room.pid_max || room.tasks == 0);
    FUZZ_CHECK(room.group_max == UINT64_MAX ||
               room.group_tasks <= room.group_max);
    return 0;
}
