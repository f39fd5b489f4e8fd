/* Marks: makes and writes them, reads them from the environment of other
 * processes, and checks whether they can be true. */
#include "config.h"

#include "endpoints/spawn/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "endpoints/sys/process.h"
#include "overlay/base/err.h"

/* The NUL at the beginning ends the entry of the environment before this
 * one. */
static const char needle[] = "\0" EP_MARK_NAME "=";

enum { NEEDLE_BYTES = sizeof(needle) - 1, CHUNK_BYTES = 16 * 1024 };

/* --- the place */

/* Returns a hash of the boot and the namespaces of a process; 0: these cannot
 * be read. A place is different where process numbers, times or paths of
 * cgroups mean something else. */
static uint64_t place_of(pid_t pid)
{
    static const char *const kinds[] = {"pid", "time", "cgroup", NULL};
    uint64_t boot = ep_process_boot();

    return boot == 0 ? 0 : ep_process_spaces(pid, kinds, boot);
}

uint64_t ep_mark_place(void)
{
    return place_of(getpid());
}

/* --- the cgroup */

/* Returns the next line N:CONTROLLERS:PATH of a text, without N and its
 * newline; NULL: there is none. */
static const char *next_group(const char **text, size_t *len)
{
    const char *line = *text, *colon = strchr(line, ':');

    *len = strcspn(line, "\n");
    *text = line + *len + (line[*len] == '\n');
    if (colon == NULL || colon > line + *len)
        return NULL;
    *len -= (size_t)(colon + 1 - line);
    return colon + 1;
}

/* Copies the lines of cgroups below the top of their hierarchy. (The top has
 * all processes in it, so it tells nothing.) */
static int copy_groups(const char *text, char *out, size_t size)
{
    size_t at = 0, len;

    out[0] = '\0';
    while (*text != '\0') {
        const char *group = next_group(&text, &len);
        const char *path = group != NULL ? memchr(group, ':', len) : NULL;

        if (path == NULL || path + 2 >= group + len)
            continue;
        if (at + len + 2 > size)
            return OV_ESYS;
        at += (size_t)snprintf(out + at, size - at, "%s%.*s", at > 0 ? ";" : "",
                               (int)len, group);
    }
    return 0;
}

static bool has_group(const char *cgroup, const char *wanted, size_t wanted_len)
{
    while (*cgroup != '\0') {
        size_t len;
        const char *group = next_group(&cgroup, &len);

        if (group != NULL && len >= wanted_len &&
            memcmp(group, wanted, wanted_len) == 0 &&
            (len == wanted_len || group[wanted_len] == '/'))
            return true;
    }
    return false;
}

bool ep_mark_has_cgroup(const struct ep_mark *mark, const char *cgroup)
{
    const char *at = mark->cgroup;

    while (*at != '\0') {
        size_t len = strcspn(at, ";");

        if (!has_group(cgroup, at, len))
            return false;
        at += len + (at[len] == ';');
    }
    return true;
}

static bool is_in_cgroup(const struct ep_mark *mark, pid_t pid)
{
    char path[64], text[2 * EP_MARK_CGROUP_MAX];
    ssize_t len;

    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
    len = ep_process_read(path, text, sizeof(text));
    if (len > 0 && len < (ssize_t)sizeof(text) - 1)
        return ep_mark_has_cgroup(mark, text);
    return mark->cgroup[0] == '\0'; /* the kernel has no cgroups */
}

/* --- the mark */

/* Finds place and cgroup of this process. */
static int find_home(struct ep_mark *out)
{
    char text[2 * EP_MARK_CGROUP_MAX];
    ssize_t len = ep_process_read("/proc/self/cgroup", text, sizeof(text));

    out->place = ep_mark_place();
    if (out->place == 0 || len == (ssize_t)sizeof(text) - 1)
        return OV_ESYS;
    if (len < 0) /* probably the kernel has no cgroups */
        return errno == ENOENT ? 0 : OV_ESYS;
    return copy_groups(text, out->cgroup, sizeof(out->cgroup));
}

int ep_mark_home(char text[EP_MARK_BYTES_MAX])
{
    struct ep_mark mark = {0};
    int rc = find_home(&mark);

    snprintf(text, EP_MARK_BYTES_MAX, "%016" PRIx64 ".%s", mark.place,
             mark.cgroup);
    return rc;
}

static int parse_home(const char *home, struct ep_mark *out)
{
    int end = 0;

    if (sscanf(home, "%16" SCNx64 ".%n", &out->place, &end) != 1 || end == 0 ||
        strlen(home + end) >= sizeof(out->cgroup))
        return OV_EPROTO;
    strcpy(out->cgroup, home + end);
    return 0;
}

int ep_mark_make(uint64_t session, uint32_t node, const char *home,
                 struct ep_mark *out)
{
    struct ep_process self;

    *out = (struct ep_mark){.session = session, .node = node, .pid = getpid()};
    if (ep_process_look(out->pid, &self) != 0)
        return OV_ESYS;
    out->start = self.start;
    return home != NULL ? parse_home(home, out) : find_home(out);
}

void ep_mark_print(const struct ep_mark *mark, char text[EP_MARK_BYTES_MAX])
{
    snprintf(text, EP_MARK_BYTES_MAX,
             EP_MARK_NAME "=%016" PRIx64 ".%u.%d.%" PRIu64 ".%016" PRIx64 ".%s",
             mark->session, mark->node, (int)mark->pid, mark->start,
             mark->place, mark->cgroup);
}

int ep_mark_parse(const char *value, struct ep_mark *out)
{
    int end = 0, pid = 0;

    *out = (struct ep_mark){0};
    if (sscanf(value, "%16" SCNx64 ".%u.%d.%" SCNu64 ".%n", &out->session,
               &out->node, &pid, &out->start, &end) != 4 ||
        end == 0 || pid <= 0)
        return OV_EPROTO;
    out->pid = pid;
    return parse_home(value + end, out);
}

/* Searches mem, which begins with a NUL, for a mark. OV_EAGAIN: call it again
 * with the bytes from *from on and further ones after them. */
static int search(const char *mem, size_t len, size_t *from,
                  struct ep_mark *out)
{
    const char *at = memmem(mem, len, needle, NEEDLE_BYTES);

    if (at == NULL) {
        *from = len < NEEDLE_BYTES ? 0 : len - NEEDLE_BYTES + 1;
        return OV_EAGAIN;
    }
    *from = (size_t)(at - mem);
    at += NEEDLE_BYTES;
    if (memchr(at, '\0', len - (size_t)(at - mem)) == NULL)
        return OV_EAGAIN;
    return ep_mark_parse(at, out);
}

int ep_mark_find(pid_t pid, struct ep_mark *out)
{
    char path[64], mem[CHUNK_BYTES];
    size_t len = 1, from;
    int rc = OV_EAGAIN;
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return OV_ENOENT;
    mem[0] = '\0';
    while (rc == OV_EAGAIN && len < sizeof(mem) &&
           (got = read(fd, mem + len, sizeof(mem) - len)) > 0) {
        len += (size_t)got;
        rc = search(mem, len, &from, out);
        if (rc == OV_EAGAIN) {
            len -= from;
            memmove(mem, mem + from, len);
        }
    }
    close(fd);
    return rc == 0 ? 0 : OV_ENOENT;
}

static bool is_of_user(pid_t pid)
{
    char path[64];
    struct stat stat_;

    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    return stat(path, &stat_) == 0 && stat_.st_uid == geteuid();
}

bool ep_mark_is_on(const struct ep_mark *mark, pid_t pid, uint64_t start)
{
    return start >= mark->start && is_of_user(pid) &&
           mark->place == place_of(getpid()) && mark->place == place_of(pid) &&
           is_in_cgroup(mark, pid);
}
