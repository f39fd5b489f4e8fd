/* Reads how much room the system has from /proc, /sys/fs/cgroup and the
 * process's limits. */
#include "config.h"

#include "endpoints/sys/room.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_BYTES = 4096,
    CPUS_MAX = 1 << 16,
    /* CAP_SYS_ADMIN and CAP_SYS_RESOURCE: a process with one of these has no
     * limit on processes. */
    CAPABLE = 1 << 21 | 1 << 24,
};

/* --- small files */

static FILE *open_at(const char *root, const char *name)
{
    char path[PATH_BYTES];

    if ((size_t)snprintf(path, sizeof(path), "%s%s", root, name) >=
        sizeof(path))
        return NULL;
    return fopen(path, "re");
}

/* Returns the first number in a file; UINT64_MAX: the file says "max", or has
 * no number. */
static uint64_t read_number(const char *root, const char *name)
{
    FILE *file = open_at(root, name);
    uint64_t value = UINT64_MAX;

    if (file == NULL)
        return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &value) != 1)
        value = UINT64_MAX;
    fclose(file);
    return value;
}

/* Returns the number after a word at the beginning of a line; 0: there is
 * none. */
static uint64_t read_field(const char *root, const char *name, const char *word)
{
    FILE *file = open_at(root, name);
    uint64_t value = 0;
    char line[256];

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        size_t len = strlen(word);

        if (strncmp(line, word, len) == 0 && isspace((uint8_t)line[len])) {
            value = strtoull(line + len, NULL, 10);
            break;
        }
    }
    if (file != NULL)
        fclose(file);
    return value;
}

/* --- control groups
 * */

/* Writes the path of our group, relative to the folder of all groups, to
 * `out`. */
static bool find_group(const char *root, char out[PATH_BYTES])
{
    FILE *file = open_at(root, "/proc/self/cgroup");
    char line[PATH_BYTES];
    bool is_found = false;

    while (file != NULL && !is_found &&
           fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        is_found = strncmp(line, "0::/", 4) == 0 && strstr(line, "/..") == NULL;
    }
    if (file != NULL)
        fclose(file);
    if (is_found)
        snprintf(out, PATH_BYTES, "%s", line + 3);
    return is_found;
}

static uint64_t group_number(const char *root, const char *group,
                             const char *name)
{
    char path[PATH_BYTES];

    if ((size_t)snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", group,
                         name) >= sizeof(path))
        return UINT64_MAX;
    return read_number(root, path);
}

static void look_at_tasks(const char *root, const char *group,
                          struct ep_room *out)
{
    uint64_t max = group_number(root, group, "pids.max");
    uint64_t now = group_number(root, group, "pids.current");
    uint64_t left = out->group_max == UINT64_MAX
                        ? UINT64_MAX
                        : out->group_max - out->group_tasks;

    if (max == UINT64_MAX || now == UINT64_MAX)
        return;
    if (now > max)
        now = max;
    if (max - now >= left)
        return;
    out->group_max = max;
    out->group_tasks = now;
}

/* Reads a group's memory. Cached pages of files count as free: the kernel frees
 * them before it refuses memory. */
static void look_at_memory(const char *root, const char *group,
                           struct ep_room *out)
{
    uint64_t max = group_number(root, group, "memory.max");
    uint64_t now = group_number(root, group, "memory.current");
    char stat[PATH_BYTES];
    uint64_t cached;

    if (max == UINT64_MAX || now == UINT64_MAX ||
        (size_t)snprintf(stat, sizeof(stat), "/sys/fs/cgroup%s/memory.stat",
                         group) >= sizeof(stat))
        return;
    cached = read_field(root, stat, "active_file") +
             read_field(root, stat, "inactive_file");
    now = now > cached ? now - cached : 0;
    if (now > max)
        now = max;
    if (max - now < out->group_bytes)
        out->group_bytes = max - now;
}

/* Reads a group's limit on processor time: "QUOTA PERIOD", or "max PERIOD". */
static void look_at_time(const char *root, const char *group,
                         struct ep_room *out)
{
    char path[PATH_BYTES];
    uint64_t quota = 0, period = 0;
    FILE *file;

    if ((size_t)snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max",
                         group) >= sizeof(path))
        return;
    file = open_at(root, path);
    if (file == NULL)
        return;
    if (fscanf(file, "%" SCNu64 " %" SCNu64, &quota, &period) == 2 &&
        quota > 0 && period > 0 && (quota - 1) / period + 1 < out->processors)
        out->processors = (uint32_t)((quota - 1) / period + 1);
    fclose(file);
}

/* Reads all groups from our own up to the highest, whose name is empty. */
static void read_groups(const char *root, bool is_all, struct ep_room *out)
{
    char group[PATH_BYTES];
    bool is_over = !find_group(root, group);

    if (!is_over && strcmp(group, "/") == 0)
        group[0] = '\0';
    while (!is_over) {
        if (is_all) {
            look_at_tasks(root, group, out);
            look_at_memory(root, group, out);
        }
        look_at_time(root, group, out);
        is_over = group[0] == '\0';
        if (!is_over)
            *strrchr(group, '/') = '\0';
    }
}

/* --- this process and its user
 * */

static uint64_t read_limit(int which, bool is_hard)
{
    struct rlimit limit;
    rlim_t value;

    if (getrlimit((__rlimit_resource_t)which, &limit) != 0)
        return UINT64_MAX;
    value = is_hard ? limit.rlim_max : limit.rlim_cur;
    return value == RLIM_INFINITY ? UINT64_MAX : (uint64_t)value;
}

/* True when the kernel applies the user's limit to this process. */
static bool is_limited(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    unsigned long long has = 0;
    char line[256];

    if (geteuid() == 0)
        has = CAPABLE;
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "CapEff: %llx", &has) == 1)
            break;
    }
    if (file != NULL)
        fclose(file);
    return (has & CAPABLE) == 0;
}

/* Counts processes and threads of this user. The folder of a process's threads
 * has one link more for each thread. */
static uint64_t count_tasks(void)
{
    DIR *dir = opendir("/proc");
    const struct dirent *entry;
    uint64_t count = 0;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char path[64];
        struct stat st;

        if (!isdigit((uint8_t)entry->d_name[0]) ||
            (size_t)snprintf(path, sizeof(path), "/proc/%.20s/task",
                             entry->d_name) >= sizeof(path))
            continue;
        if (stat(path, &st) == 0 && st.st_uid == getuid() && st.st_nlink > 2)
            count += st.st_nlink - 2;
    }
    if (dir != NULL)
        closedir(dir);
    return count;
}

static void read_user(struct ep_room *out)
{
    out->files = read_limit(RLIMIT_NOFILE, true);
    out->user_max = is_limited() ? read_limit(RLIMIT_NPROC, false) : UINT64_MAX;
    out->is_counted = out->user_max == UINT64_MAX;
    if (out->is_counted)
        return;
    out->user_tasks = out->tasks;
    if (out->tasks == 0) /* the number is not known */
        ep_room_count(out);
}

void ep_room_count(struct ep_room *room)
{
    room->user_tasks = count_tasks();
    room->is_counted = true;
}

static uint32_t count_bound(void)
{
    long online;
    int count = 0;

    /* The kernel refuses a set that is smaller than its number of
     * processors. */
    for (size_t cpus = 1024; count == 0 && cpus <= CPUS_MAX; cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC(cpus);

        if (set == NULL)
            break;
        if (sched_getaffinity(0, CPU_ALLOC_SIZE(cpus), set) == 0)
            count = CPU_COUNT_S(CPU_ALLOC_SIZE(cpus), set);
        CPU_FREE(set);
    }
    if (count > 0)
        return (uint32_t)count;
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}

/* --- all of it
 * */

static uint64_t read_tasks(const char *root)
{
    FILE *file = open_at(root, "/proc/loadavg");
    uint64_t tasks = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%*s %*s %*s %*[0-9]/%" SCNu64, &tasks) != 1)
        tasks = 0;
    fclose(file);
    return tasks;
}

/* Reads the memory that is available. Reads the file once, because that is
 * slow. */
static uint64_t read_memory(const char *root)
{
    FILE *file = open_at(root, "/proc/meminfo");
    uint64_t kib = 0, swap_kib = 0;
    char line[256];

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
            continue;
        if (sscanf(line, "SwapFree: %" SCNu64, &swap_kib) == 1)
            break;
    }
    if (file != NULL)
        fclose(file);
    return kib == 0 ? UINT64_MAX : (kib + swap_kib) * 1024;
}

void ep_room_read_at(const char *root, struct ep_room *out)
{
    *out = (struct ep_room){
        .pid_max = read_number(root, "/proc/sys/kernel/pid_max"),
        .threads_max = read_number(root, "/proc/sys/kernel/threads-max"),
        .tasks = read_tasks(root),
        .group_max = UINT64_MAX,
        .memory_bytes = read_memory(root),
        .group_bytes = UINT64_MAX,
        .processors = count_bound(),
    };
    /* In a PID namespace `tasks` still counts those of the whole machine. */
    if (out->tasks >= out->pid_max)
        out->tasks = 0;
    read_user(out);
    read_groups(root, true, out);
}

void ep_room_read(struct ep_room *out)
{
    ep_room_read_at("", out);
}

uint32_t ep_room_processors(void)
{
    struct ep_room room = {.processors = count_bound()};

    read_groups("", false, &room);
    return room.processors;
}
