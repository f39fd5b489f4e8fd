/* The sessions on this machine. */
#include "config.h"

#include "endpoints/client/sessions.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "endpoints/client/folder.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"

enum { TELL_MS = 1000, LOOK_MS = 50 };

struct search {
    uid_t uid;
    pid_t number; /* the number of the session to find; 0: all sessions */
    struct ep_sessions *out;
};

/* --- one session */

int ep_session_say(const struct ep_session *session, const struct job_door *msg)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    job_door_encode(&wr, msg);
    return send(session->fd, mem, (size_t)(wr.at - mem), MSG_NOSIGNAL) < 0
               ? OV_ESYS
               : 0;
}

/* When a session has ended without reading all our messages, recv() fails once
 * before it returns the session's last messages. */
int ep_session_receive(const struct ep_session *session, int timeout_ms,
                       uint8_t *mem, uint32_t *len_bytes)
{
    struct pollfd said = {.fd = session->fd, .events = POLLIN};
    ssize_t got;

    if (poll(&said, 1, timeout_ms) <= 0)
        return OV_EFULL;
    do
        got = recv(session->fd, mem, JOB_DOOR_BYTES_MAX, MSG_DONTWAIT);
    while (got < 0 && errno == ECONNRESET);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return OV_EFULL;
    if (got <= 0)
        return OV_ECLOSED;
    *len_bytes = (uint32_t)got;
    return 0;
}

int ep_session_hear(const struct ep_session *session, int timeout_ms,
                    struct job_door *msg)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    uint32_t len_bytes;
    int rc = ep_session_receive(session, timeout_ms, mem, &len_bytes);

    return rc != 0 ? rc : job_door_decode(ov_rd_init(mem, len_bytes), msg);
}

void ep_session_close(struct ep_session *session)
{
    if (session->fd >= 0)
        close(session->fd);
    session->fd = -1;
}

/* --- greeting a session */

/* Tells whether the session belongs to this user. A link in the folder may lead
 * to another user's socket. */
static bool is_of(int fd, uid_t uid, pid_t *pid)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        peer.uid != uid)
        return false;
    *pid = peer.pid;
    return true;
}

static void add_session(struct ep_sessions *all,
                        const struct ep_session *session)
{
    struct ep_session *grown =
        realloc(all->at, (all->count + 1) * sizeof(*grown));

    if (grown == NULL) {
        close(session->fd);
        return;
    }
    all->at = grown;
    grown[all->count++] = *session;
}

/* Sends HELLO to a session. One that is too busy to take it counts as one that
 * does not answer. */
static void greet(void *arg, int folder, pid_t number)
{
    const struct search *search = arg;
    const struct job_door hello = {.kind = JOB_DOOR_HELLO,
                                   .version = JOB_DOOR_VERSION,
                                   .text = PACKAGE_VERSION};
    struct ep_session session = {.number = number, .is_there = true};

    if (search->number != 0 && search->number != number)
        return;
    session.fd = ep_door_dial(folder, number);
    if (session.fd < 0 && errno != EAGAIN)
        return;
    if (session.fd >= 0 && (!is_of(session.fd, search->uid, &session.pid) ||
                            ep_session_say(&session, &hello) != 0)) {
        close(session.fd);
        return;
    }
    add_session(search->out, &session);
}

/* --- all sessions */

static bool is_silent(const struct ep_session *session)
{
    return session->is_there && session->answer.kind == 0;
}

static void hear_answer(struct ep_session *session)
{
    int rc = OV_EFULL;

    if (is_silent(session) && session->fd >= 0)
        rc = ep_session_hear(session, 0, &session->answer);
    if (rc == 0 || rc == OV_EFULL)
        return;
    session->is_there = false;
    session->answer.kind = 0;
    ep_session_close(session);
}

/* Waits until one of the sessions sends something, or for a moment. */
static void wait_a_moment(const struct ep_sessions *all)
{
    struct pollfd *said = calloc(all->count, sizeof(*said));
    nfds_t count = 0;

    for (unsigned i = 0; said != NULL && i < all->count; i++) {
        if (is_silent(&all->at[i]) && all->at[i].fd >= 0)
            said[count++] =
                (struct pollfd){.fd = all->at[i].fd, .events = POLLIN};
    }
    (void)poll(said, count, LOOK_MS);
    free(said);
}

/* Reads answers. Returns how many sessions have not answered; *are_there
 * becomes true when at least one has. */
static unsigned hear_all(const struct ep_sessions *all, bool *are_there)
{
    unsigned silent = 0;

    *are_there = false;
    for (unsigned i = 0; i < all->count; i++) {
        hear_answer(&all->at[i]);
        silent += is_silent(&all->at[i]);
        *are_there |= all->at[i].answer.kind != 0;
    }
    return silent;
}

static void tell_silent(const struct ep_sessions *all)
{
    for (unsigned i = 0; i < all->count; i++) {
        if (is_silent(&all->at[i]))
            fprintf(stderr, "xylem: waiting for process %d to answer\n",
                    (int)all->at[i].number);
    }
}

static int patience_ms(int most_ms, bool are_there)
{
    if (most_ms > 0)
        return most_ms;
    return (are_there ? EP_SESSIONS_BESIDE_S : EP_SESSIONS_ALONE_S) * 1000;
}

static void await_all(const struct ep_sessions *all, int most_ms)
{
    const int64_t begin_ms = ep_clock_ms();
    bool are_there, is_told = false;
    int64_t waited_ms = 0;

    while (hear_all(all, &are_there) > 0) {
        if (waited_ms >= patience_ms(most_ms, are_there))
            return;
        if (!is_told && waited_ms >= TELL_MS) {
            tell_silent(all);
            is_told = true;
        }
        wait_a_moment(all);
        waited_ms = ep_clock_ms() - begin_ms;
    }
}

void ep_sessions_open(uid_t uid, pid_t number, int most_ms,
                      struct ep_sessions *out)
{
    struct search search = {.uid = uid, .number = number, .out = out};
    unsigned left = 0;

    *out = (struct ep_sessions){.count = 0};
    for (unsigned nth = 0; nth < EP_DOOR_FOLDERS; nth++) {
        int folder = ep_door_folder_open(uid, nth);

        if (folder < 0)
            continue;
        ep_door_each(folder, greet, &search);
        close(folder);
    }
    await_all(out, most_ms);
    for (unsigned i = 0; i < out->count; i++) {
        if (out->at[i].is_there)
            out->at[left++] = out->at[i];
    }
    out->count = left;
}

void ep_sessions_close(struct ep_sessions *sessions,
                       const struct ep_session *kept)
{
    for (unsigned i = 0; i < sessions->count; i++) {
        if (&sessions->at[i] != kept)
            ep_session_close(&sessions->at[i]);
    }
    free(sessions->at);
    *sessions = (struct ep_sessions){.count = 0};
}
