/* The process of one daemon of a starter: its pipes and its command. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "endpoints/boot/launcher.h"
#include "endpoints/boot/starter_daemon.h"
#include "endpoints/spawn/spawner.h"
#include "overlay/base/err.h"

static int announce(const struct ep_daemon *d)
{
    struct ep_starter *st = d->st;
    enum ep_launcher launcher = (enum ep_launcher)d->launcher;
    struct ep_launch launch = {
        .spawner = st->spawner,
        .job = st->job_first + d->launcher,
        .xylemd = st->xylemd,
        .words = ep_launcher_boot,
        .rsh = st->rsh,
        .hosts = d->hosts,
        .hosts_count = d->hosts_count,
        .text = &d->input,
    };
    int rc;

    if (st->job_known[launcher])
        return 0;
    rc = ep_launcher_ops(launcher)->announce(&launch);
    st->job_known[launcher] = rc == 0;
    return rc;
}

static void close_both(int ends[2])
{
    for (unsigned i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
    }
}

/* Opens three pipes; our ends are non-blocking. Leaves none open on error. */
static int open_pipes(int ours[3], int theirs[3])
{
    int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};

    for (unsigned i = 0; i < 3; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) != 0)
            goto fail;
        ours[i] = pipes[i][i == 0 ? 1 : 0];
        theirs[i] = pipes[i][i == 0 ? 0 : 1];
        if (fcntl(ours[i], F_SETFL, O_NONBLOCK) != 0)
            goto fail;
    }
    return 0;

fail:
    for (unsigned i = 0; i < 3; i++) {
        int err = errno;

        close_both(pipes[i]);
        errno = err;
    }
    return OV_ESYS;
}

static int spawn(struct ep_daemon *d, const int theirs[3])
{
    struct ep_starter *st = d->st;
    const struct ep_launcher_ops *ops =
        ep_launcher_ops((enum ep_launcher)d->launcher);
    struct text_buf line = {0};
    const char *args[] = {NULL, NULL, NULL};
    struct ep_spawn_proc proc = {
        .job = st->job_first + d->launcher,
        .proc = st->proc_first + d->index,
        .args = args,
        .stdio = {theirs[0], theirs[1], theirs[2]},
    };
    int rc = announce(d);

    if (rc == 0 && ops->put_line != NULL) {
        ops->put_line(&line, st->xylemd, ep_launcher_boot);
        args[0] = d->host;
        args[1] = line.at;
        rc = line.bad ? OV_ENOMEM : 0;
    }
    if (rc == 0)
        rc = ep_spawner_start(st->spawner, &proc);
    text_buf_fini(&line);
    return rc;
}

void ep_daemon_fail_start(struct ep_daemon *d, const char *step, int err)
{
    struct ep_starter_who who = ep_daemon_who(d);

    text_buf_clear(&d->words);
    ep_starter_words_failed(&d->words, &who, step, err);
    ep_daemon_unreached(d);
}

/* Returns the errno that is closest to an error code of ours. */
static int errno_of(int rc)
{
    if (rc == OV_ENOMEM)
        return ENOMEM;
    if (rc == OV_ECLOSED)
        return EPIPE;
    return rc == OV_ESYS && errno != 0 ? errno : EINVAL;
}

int ep_daemon_start(struct ep_daemon *d)
{
    int ours[3], theirs[3], rc;

    if (open_pipes(ours, theirs) != 0)
        return errno;
    rc = ep_daemon_begin(d, ours);
    if (rc == 0)
        rc = spawn(d, theirs);
    if (ep_launcher_ops((enum ep_launcher)d->launcher)->has_text_in_env)
        ep_daemon_shut_stdin(d);
    if (rc != 0)
        ep_daemon_fail_start(d, "spawner", errno_of(rc));
    for (unsigned i = 0; i < 3; i++)
        close(theirs[i]);
    return 0;
}
