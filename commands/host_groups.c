/* Asks nodeset, a program of ClusterShell, for the hosts of groups. */
#include "config.h"

#include "commands/host_groups.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/refuse.h"
#include "endpoints/sys/prelude.h"

enum { WHAT_BYTES = 512 };

extern char **environ;

/* Starts the program with a pipe for its stdout; *fd becomes the other end of
 * the pipe. Returns 0 or an error number. */
static int start_program(char *const argv[], pid_t *pid, int *fd)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    int ends[2];
    int rc;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    rc = posix_spawn_file_actions_init(&files);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    /* The program gets no stdin, as the stdin of this process is for the job.
     */
    if (rc == 0)
        rc = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                              O_RDONLY, 0);
    /* The program gets a process group, so that it can be killed together with
     * all processes that it has started. */
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
    if (rc == 0)
        rc = posix_spawnp(pid, argv[0], &files, &how, argv, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    *fd = ends[0];
    if (rc != 0)
        close(ends[0]);
    return rc;
}

/* Writes the hosts of a group, with the text `between' after each host but the
 * last. */
static void put_group(FILE *to, char *group, char *between)
{
    char *const argv[] = {"nodeset", "-e", "-S", between, group, NULL};
    char *line = NULL;
    size_t line_bytes = 0;
    int fd = -1, status = 0, rc;
    char what[WHAT_BYTES];
    bool has_line;
    pid_t pid;
    FILE *in;

    snprintf(what, sizeof(what), "nodeset: waiting for the hosts of '%s'",
             group);
    ep_prelude_wait(what);
    rc = start_program(argv, &pid, &fd);
    if (rc != 0)
        exit(refuse("'%s' is a group of hosts, and nodeset of ClusterShell, "
                    "which knows them, cannot be started: %s",
                    group, strerror(rc)));
    ep_prelude_group(pid);
    in = fdopen(fd, "r");
    if (in == NULL)
        exit(refuse("out of memory"));
    has_line = getline(&line, &line_bytes, in) > 0 && line[0] != '\n';
    fclose(in);
    waitpid(pid, &status, 0);
    ep_prelude_group(0);
    ep_prelude_go_on();
    if (status != 0 || !has_line)
        exit(refuse("nodeset names no host for the group '%s'", group));
    line[strcspn(line, "\n")] = '\0';
    fputs(line, to);
    free(line);
}

static void put_term(FILE *to, const char *term, size_t len_bytes)
{
    const char *name = term + strspn(term, " \t\n");
    bool is_out = *name == '^';
    char *group;

    name += is_out;
    if (*name != '@') {
        fwrite(term, 1, len_bytes, to);
        return;
    }
    group = strndup(name, len_bytes - (size_t)(name - term));
    if (group == NULL)
        exit(refuse("out of memory"));
    fputs(is_out ? "^" : "", to);
    put_group(to, group, is_out ? ",^" : ",");
    free(group);
}

/* Returns the number of bytes up to the next comma outside of brackets, or to
 * the end. */
static size_t term_bytes(const char *term)
{
    bool is_inside = false;
    size_t at = 0;

    for (; term[at] != '\0' && (is_inside || term[at] != ','); at++) {
        if (term[at] == '[' || term[at] == ']')
            is_inside = term[at] == '[';
    }
    return at;
}

const char *host_groups_expand(const char *list)
{
    char *text = NULL;
    size_t text_bytes, len_bytes;
    FILE *to;

    if (list == NULL || strchr(list, '@') == NULL)
        return list;
    to = open_memstream(&text, &text_bytes);
    if (to == NULL)
        exit(refuse("out of memory"));
    for (;; list += len_bytes + 1) {
        len_bytes = term_bytes(list);
        put_term(to, list, len_bytes);
        if (list[len_bytes] == '\0')
            break;
        fputc(',', to);
    }
    if (fclose(to) != 0)
        exit(refuse("out of memory"));
    return text;
}
