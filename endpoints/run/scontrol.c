/* Asks Slurm by running scontrol for a limited time. */
#include "config.h"

#include "endpoints/run/scontrol.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "endpoints/sys/clock.h"
#include "endpoints/sys/ready.h"
#include "overlay/base/err.h"

extern char **environ;

/* Starts scontrol, with the pipe as its stdout. It has no stdin, and its stderr
 * is dropped. */
static int start_scontrol(const char *const *argv, int out, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    int rc;

    if (posix_spawn_file_actions_init(&files) != 0)
        return OV_ENOMEM;
    rc = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&files, out, 1);
    if (rc == 0)
        rc = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY,
                                              0);
    if (rc == 0)
        rc = posix_spawnp(pid, argv[0], &files, NULL, (char *const *)argv,
                          environ);
    posix_spawn_file_actions_destroy(&files);
    return rc == 0 ? 0 : OV_ENOENT;
}

/* Returns how many milliseconds are left until end_ns. */
static int left_ms(uint64_t end_ns)
{
    uint64_t now_ns = ep_clock_ns();

    return now_ns < end_ns ? (int)((end_ns - now_ns) / 1000000) + 1 : 0;
}

/* Reads scontrol's output to its end, while there is time and room. When the
 * launcher was stopped until the time was over, what has arrived is still
 * read. */
static bool read_all(int fd, struct text_buf *out)
{
    uint64_t end_ns = ep_clock_ns() + EP_SCONTROL_MS * UINT64_C(1000000);
    char mem[16384];

    for (;;) {
        ssize_t got;

        if (!ep_ready(fd, POLLIN, left_ms(end_ns)))
            return false;
        got = read(fd, mem, sizeof(mem));
        if (got == 0)
            return true;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 || out->len_bytes + (size_t)got > EP_SCONTROL_BYTES_MAX)
            return false;
        text_buf_add(out, mem, (size_t)got);
        if (out->bad)
            return false;
    }
}

static int ask_scontrol(const char *const *argv, struct text_buf *out)
{
    int ends[2], status = 0;
    bool is_whole;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return OV_ENOENT;
    if (start_scontrol(argv, ends[1], &pid) != 0) {
        close(ends[0]);
        close(ends[1]);
        return OV_ENOENT;
    }
    close(ends[1]);
    is_whole = read_all(ends[0], out);
    close(ends[0]);
    if (!is_whole)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (out->bad)
        return OV_ENOMEM;
    return is_whole && status == 0 && out->len_bytes > 0 ? 0 : OV_ENOENT;
}

int ep_scontrol_topology(struct text_buf *out)
{
    static const char *const argv[] = {"scontrol", "show", "topology", NULL};

    return ask_scontrol(argv, out);
}

int ep_scontrol_nodes_parse(const char *text, struct text_buf *out)
{
    /* The space before the name is needed, because other names end in it:
     * ReqNodeList= */
    static const char mark[] = " NodeList=";
    const char *list = strstr(text, mark);

    if (list == NULL)
        return OV_ENOENT;
    list += strlen(mark);
    text_buf_add(out, list, strcspn(list, " \n"));
    return out->bad ? OV_ENOMEM : 0;
}

int ep_scontrol_nodes(const char *job, struct text_buf *out)
{
    const char *const argv[] = {"scontrol", "-o", "show", "job", job, NULL};
    struct text_buf all = {0};
    int rc = ask_scontrol(argv, &all);

    if (rc == 0)
        rc = ep_scontrol_nodes_parse(all.at, out);
    text_buf_fini(&all);
    return rc;
}
