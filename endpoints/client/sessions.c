/* The sessions on this machine. */
#include "config.h"

#include "endpoints/client/sessions.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "endpoints/client/folder.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

enum { TELL_MS = 1000 };

struct search {
    pid_t pid; /* 0: any */
    struct ep_session *out;
    unsigned count;
};

/* --- one */

int ep_session_say(const struct ep_session *session, const struct job_door *msg)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    job_door_encode(&wr, msg);
    return send(session->fd, mem, (size_t)(wr.at - mem), MSG_NOSIGNAL) < 0
               ? OV_ESYS
               : 0;
}

int ep_session_hear(const struct ep_session *session, int timeout_ms,
                    struct job_door *msg)
{
    struct pollfd said = {.fd = session->fd, .events = POLLIN};
    uint8_t mem[JOB_DOOR_BYTES_MAX + 1];
    ssize_t got;

    if (poll(&said, 1, timeout_ms) <= 0)
        return OV_EFULL;
    got = recv(session->fd, mem, sizeof(mem), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return OV_EFULL;
    if (got <= 0)
        return OV_ECLOSED;
    return job_door_decode(ov_rd_init(mem, (size_t)got), msg);
}

/* --- all */

static void greet(void *arg, int folder, pid_t pid)
{
    struct search *search = arg;
    struct job_door hello = {.kind = JOB_DOOR_HELLO,
                             .version = JOB_DOOR_VERSION,
                             .text = PACKAGE_VERSION};
    struct ep_session session = {.pid = pid};

    if ((search->pid != 0 && search->pid != pid) ||
        search->count == EP_SESSIONS_MAX)
        return;
    session.fd = ep_door_dial(folder, pid);
    if (session.fd < 0)
        return;
    if (ep_session_say(&session, &hello) == 0)
        search->out[search->count++] = session;
    else
        close(session.fd);
}

/* False: it is gone. */
static bool await(struct ep_session *session, uint64_t end_ns, bool *is_told)
{
    int rc = OV_EFULL;

    while (rc == OV_EFULL && ep_clock_ns() < end_ns) {
        rc = ep_session_hear(session, TELL_MS, &session->answer);
        if (rc == OV_EFULL && !*is_told)
            fprintf(stderr, "xylem: waiting for process %d to answer\n",
                    (int)session->pid);
        *is_told |= rc == OV_EFULL;
    }
    return rc == 0 || rc == OV_EFULL;
}

unsigned ep_sessions_open(uid_t uid, pid_t pid, struct ep_session *out)
{
    uint64_t end_ns = ep_clock_ns() + EP_SESSIONS_S * UINT64_C(1000000000);
    struct search search = {.pid = pid, .out = out};
    unsigned count = 0;

    for (unsigned nth = 0; nth < EP_DOOR_FOLDERS; nth++) {
        int folder = ep_door_folder_open(uid, nth);

        if (folder < 0)
            continue;
        ep_door_each(folder, greet, &search);
        close(folder);
    }
    for (unsigned i = 0; i < search.count; i++) {
        bool is_told = false;

        if (await(&out[i], end_ns, &is_told))
            out[count++] = out[i];
        else
            close(out[i].fd);
    }
    return count;
}

void ep_session_close(struct ep_session *session)
{
    if (session->fd >= 0)
        close(session->fd);
    session->fd = -1;
}
