/* Runs between fork and exec: makes a clean process, then runs the program. The
 * spawner has one thread, so everything is allowed here, even malloc(). */
#include "config.h"

#include "endpoints/spawn/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "endpoints/sys/fds.h"

static void tell(int report_fd, enum ep_step step, int err)
{
    struct ep_shim_report report = {.step = step, .err = err};
    ssize_t sent;

    do {
        sent = write(report_fd, &report, sizeof(report));
    } while (sent < 0 && errno == EINTR);
}

static _Noreturn void fail(int report_fd, enum ep_step step)
{
    tell(report_fd, step, errno);
    _exit(127);
}

/* Has the kernel kill this process when the spawner dies. The kernel does so
 * only for a death after prctl(). */
static void follow(pid_t spawner)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != spawner)
        _exit(127);
}

/* Makes every signal default and unblocked, also those that our own starter
 * ignored (nohup, background shells): the program starts as it would at a
 * prompt. libc refuses to change the two signals that it uses itself, but these
 * can have been ignored at our start, so the kernel is called directly; a
 * zeroed action is the default action on every architecture. */
static void signals_reset(void)
{
    static const unsigned long action[16];
    sigset_t none;

    for (int signo = 1; signo < NSIG; signo++)
        syscall(SYS_rt_sigaction, signo, action, NULL, (NSIG - 1) / 8);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int session_enter(const struct ep_shim *shim)
{
    if (shim->job->what.new_session)
        return setsid() < 0 ? -1 : 0;
    return setpgid(0, 0);
}

/* Moves the descriptors to their numbers and closes all others. Returns the new
 * number of the report pipe, or -1. */
static int stdio_set(const struct ep_shim *shim)
{
    int report_fd = EP_SPAWN_FURTHER_FD;

    for (int i = 0; i < 3; i++) {
        int from = shim->stdio[i];

        if (from < 0 && i == 2)
            from = 1;
        if (from >= 0 && dup2(from, i) < 0)
            return -1;
    }
    /* Until now EP_SPAWN_FURTHER_FD was the owner's socket; no descriptor above
     * it is still needed. */
    if (shim->further > 0) {
        if (dup2(shim->further, EP_SPAWN_FURTHER_FD) < 0)
            return -1;
        report_fd++;
    }
    if (shim->report_fd != report_fd &&
        dup3(shim->report_fd, report_fd, O_CLOEXEC) < 0)
        return -1;
    ep_fds_close_from(report_fd + 1);
    return report_fd;
}

/* Binds the process to processors, given as "0-3,8". Processors that the system
 * does not have, or does not allow here, are ignored. */
static int bind_to(const char *cpus)
{
    enum { CPUS_MAX = 1 << 16 };
    size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
    cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
    const char *at = cpus;

    if (set == NULL)
        return -1;
    CPU_ZERO_S(size, set);
    while (*at != '\0') {
        char *end;
        unsigned long first = strtoul(at, &end, 10);
        unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

        for (unsigned long cpu = first; cpu <= last && cpu < CPUS_MAX; cpu++)
            CPU_SET_S(cpu, size, set);
        if (*end != ',')
            break;
        at = end + 1;
    }
    return sched_setaffinity(0, size, set);
}

/* Enters the program's directory. `pwd` (PATH_MAX + 4 bytes) becomes "PWD=...",
 * or "" when the environment's own PWD is right. */
static int directory_enter(const struct job_program *program, int report_fd,
                           char *pwd)
{
    pwd[0] = '\0';
    if (program->cwd == NULL)
        return 0;
    if (chdir(program->cwd) == 0) {
        /* Links in the path stay as the user gave them, as in a shell. */
        if (program->cwd[0] == '/' && strlen(program->cwd) < PATH_MAX) {
            snprintf(pwd, PATH_MAX + 4, "PWD=%s", program->cwd);
            return 0;
        }
    } else if (!program->cwd_is_optional) {
        return -1;
    } else {
        tell(report_fd, EP_STEP_CHDIR, -errno);
    }
    memcpy(pwd, "PWD=", 5);
    if (getcwd(pwd + 4, PATH_MAX) == NULL)
        pwd[0] = '\0';
    return 0;
}

static size_t count_of(const char *const *strings)
{
    size_t count = 0;

    while (strings[count] != NULL)
        count++;
    return count;
}

static bool same_name(const char *entry, const char *setting)
{
    size_t len = (size_t)(strchr(setting, '=') - setting) + 1;

    return strncmp(entry, setting, len) == 0;
}

/* True when one of the variables has the same name as the entry. */
static bool is_replaced(const char *entry, const char *const *settings)
{
    for (; *settings != NULL; settings++) {
        if (same_name(entry, *settings))
            return true;
    }
    return false;
}

/* Makes the environment: the job's variables, those of this process, and pwd
 * when it is not empty; a later one replaces an earlier one. Returns NULL when
 * memory is out. */
static const char **env_build(const struct ep_shim *shim, const char *pwd)
{
    const char *const *base = shim->job->what.env;
    const char *const *own = shim->start->env;
    bool has_pwd = pwd[0] != '\0';
    size_t count = 0;
    const char **env = calloc(count_of(base) + count_of(own) + 2, sizeof(*env));

    if (env == NULL)
        return NULL;
    for (; *base != NULL; base++) {
        if (!is_replaced(*base, own) && !(has_pwd && same_name(*base, pwd)))
            env[count++] = *base;
    }
    for (; *own != NULL; own++) {
        if (!is_replaced(*own, own + 1) && !(has_pwd && same_name(*own, pwd)))
            env[count++] = *own;
    }
    if (has_pwd)
        env[count++] = pwd;
    return env;
}

/* Makes the argument list: the job's arguments and those of this process.
 * Returns NULL when memory is out. */
static char **argv_build(const struct ep_shim *shim)
{
    const char *const *words = shim->job->what.program.argv;
    const char *const *own = shim->start->args;
    size_t count = count_of(words);
    const char **argv = calloc(count + count_of(own) + 1, sizeof(*argv));

    if (argv == NULL)
        return NULL;
    memcpy(argv, words, count * sizeof(*argv));
    memcpy(argv + count, own, count_of(own) * sizeof(*argv));
    return (char **)argv;
}

/* Runs the program; returns only after an error, with errno. A name without a
 * `/` that is nowhere in PATH may be in the job's directory: mpiexec, srun and
 * libpmix search there, too. execvp() uses the PATH of `environ`, which must be
 * the job's, and gives a script without an interpreter line to /bin/sh. */
static void become(char **argv)
{
    char here[PATH_MAX];
    int err;

    execvp(argv[0], argv);
    if (errno != ENOENT || strchr(argv[0], '/') != NULL ||
        strlen(argv[0]) > sizeof(here) - 3)
        return;
    err = errno;
    snprintf(here, sizeof(here), "./%s", argv[0]);
    execvp(here, argv);
    if (errno == ENOTDIR)
        errno = err;
}

/* Returns the step at which become() has failed, and improves errno: a
 * directory is not merely denied, and where the file is there, what is missing
 * is the interpreter that the file names. */
static enum ep_step failed_step(const char *program)
{
    const int err = errno;
    struct stat file;
    bool is_there = stat(program, &file) == 0;
    bool is_folder = is_there && S_ISDIR(file.st_mode);

    errno = is_folder && err == EACCES ? EISDIR : err;
    return is_there && err == ENOENT ? EP_STEP_INTERPRETER : EP_STEP_EXEC;
}

_Noreturn void ep_shim_run(const struct ep_shim *shim)
{
    static char pwd[PATH_MAX + 4];
    int report_fd = shim->report_fd;
    const char **env;
    char **argv;
    int fd;

    follow(shim->spawner);
    signals_reset();
    if (session_enter(shim) != 0)
        fail(report_fd, EP_STEP_SESSION);
    fd = stdio_set(shim);
    if (fd < 0)
        fail(report_fd, EP_STEP_STDIO);
    report_fd = fd;
    if (setrlimit(RLIMIT_NOFILE, &shim->nofile) != 0)
        fail(report_fd, EP_STEP_LIMITS);
    if (shim->start->cpus[0] != '\0' && bind_to(shim->start->cpus) != 0)
        fail(report_fd, EP_STEP_BIND);
    if (directory_enter(&shim->job->what.program, report_fd, pwd) != 0)
        fail(report_fd, EP_STEP_CHDIR);
    env = env_build(shim, pwd);
    argv = argv_build(shim);
    if (env == NULL || argv == NULL)
        fail(report_fd, EP_STEP_ENV);
    /* The limits are set late because they may leave little memory. */
    if (ep_manners_apply(&shim->job->what.manners) != 0)
        fail(report_fd, EP_STEP_LIMITS);
    environ = (char **)env;
    become(argv);
    fail(report_fd, failed_step(argv[0]));
}
