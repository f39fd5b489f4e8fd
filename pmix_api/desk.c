/* Starts and ends the helpers, and gives each a tool's connection. */
#include "config.h"

#include "pmix_api/desk.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/client/tools.h"
#include "endpoints/sys/clock.h"
#include "overlay/base/err.h"
#include "pmix_api/contact.h"
#include "pmix_api/folder.h"
#include "pmix_api/process.h"

enum {
    PAUSE_MAX_MS = 10000,
    TEXT_BYTES = 512,
    NAME_BYTES = 256, /* size of the name of a host, and of a server */
};

enum state {
    STARTS, /* the helper is starting libpmix */
    READY,  /* the helper waits in reserve for a tool */
    HANDED, /* the helper was sent a tool's connection, and has not acknowledged
               it */
    SERVES, /* the helper serves a tool */
};

struct helper {
    struct helper *next;
    struct px_desk *desk;
    struct event *reads; /* owned */
    struct event *late;  /* owned: timer for the acknowledgement of the
                            connection */
    pid_t pid;
    int fd;   /* owned */
    int tool; /* owned: the tool's connection, until the helper acknowledges it;
               * -1: none */
    enum state state;
    bool is_in; /* the helper has reported that its tool is let in */
};

struct px_desk {
    struct px_desk_cfg cfg;
    struct helper *helpers;         /* owned */
    struct event *again;            /* owned: timer for the next try */
    struct ep_tools *tools;         /* owned; NULL: the port is not open yet */
    int waiting[PX_DESK_TOOLS_MAX]; /* owned: connections that wait for a
                                       helper, in order */
    unsigned waiting_count;
    unsigned tries; /* how many tries have failed since the last success */
    bool has_started, is_hurried, has_files, is_said;
    struct px_contact_names names;
    char host[NAME_BYTES], server[NAME_BYTES];
    char wrong[TEXT_BYTES]; /* why the last try failed */
};

static void start_helper(struct px_desk *desk);
static void serve_next(struct px_desk *desk);

static void note(const struct px_desk *desk, const char *text)
{
    desk->cfg.on_note(desk->cfg.arg, text);
}

unsigned px_desk_tools(const struct px_desk *desk)
{
    unsigned count = desk->waiting_count;

    for (const struct helper *at = desk->helpers; at != NULL; at = at->next)
        count += at->state >= HANDED;
    return count;
}

/* --- how a helper ends */

static struct helper *find_helper(const struct px_desk *desk, enum state state)
{
    struct helper *at = desk->helpers;

    while (at != NULL && at->state != state)
        at = at->next;
    return at;
}

/* Handles a packet of a helper: the first acknowledges the tool's connection,
 * the next reports that the tool has been let in. */
static void on_word(struct helper *helper)
{
    if (helper->state == HANDED) {
        helper->state = SERVES;
        close(helper->tool);
        helper->tool = -1;
        event_del(helper->late);
    } else {
        helper->is_in = true;
    }
}

/* Kills the helper's process. Returns its status as from waitpid(). */
static int end_process(struct helper *helper)
{
    int status = px_process_end(helper->pid);
    char word[PX_CONTACT_BYTES_MAX];

    while (recv(helper->fd, word, sizeof(word), MSG_DONTWAIT) > 0) {
        if (helper->state >= HANDED)
            on_word(helper);
    }
    return status;
}

static void free_helper(struct helper *helper)
{
    struct helper **at = &helper->desk->helpers;

    while (*at != helper)
        at = &(*at)->next;
    *at = helper->next;
    if (helper->reads != NULL)
        event_free(helper->reads);
    if (helper->late != NULL)
        event_free(helper->late);
    if (helper->tool >= 0)
        close(helper->tool);
    close(helper->fd);
    free(helper);
}

static void end_helper(struct helper *helper)
{
    (void)px_process_end(helper->pid);
    free_helper(helper);
}

static void drop_waiting(struct px_desk *desk)
{
    while (desk->waiting_count > 0)
        close(desk->waiting[--desk->waiting_count]);
}

static void give_up(struct px_desk *desk)
{
    struct helper *reserve = find_helper(desk, READY);
    char why[TEXT_BYTES + 64];

    if (reserve != NULL)
        end_helper(reserve);
    ep_tools_close(desk->tools);
    desk->tools = NULL;
    drop_waiting(desk);
    if (desk->has_files)
        px_contact_remove(&desk->names);
    desk->has_files = false;
    snprintf(why, sizeof(why), "PMIx tools cannot connect: %s", desk->wrong);
    desk->cfg.on_given_up(desk->cfg.arg, why);
}

static struct timeval of_ms(unsigned ms)
{
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
}

static int arm(const struct px_desk *desk, unsigned ms)
{
    const struct timeval due = of_ms(ms);

    return event_add(desk->again, &due) == 0 ? 0 : OV_ENOMEM;
}

/* Reports to the user, once, that two helpers in a row have failed to start.
 * Other failures are reported with --verbose only. */
static void say_late(struct px_desk *desk)
{
    char text[TEXT_BYTES + 64];

    if (desk->is_said || desk->tries < 2)
        return;
    desk->is_said = true;
    snprintf(text, sizeof(text), "PMIx tools have to wait: %s", desk->wrong);
    desk->cfg.on_say(desk->cfg.arg, text);
}

/* Starts the timer for a new try after a helper has failed to start. Once tools
 * know the port, there is no limit to the tries. */
static void try_again(struct px_desk *desk)
{
    unsigned pause_ms = desk->cfg.pause_ms;

    note(desk, desk->wrong);
    if (desk->tools != NULL) {
        say_late(desk);
    } else if (desk->tries >= desk->cfg.tries_max) {
        give_up(desk);
        return;
    }
    for (unsigned i = 1; i < desk->tries && pause_ms < PAUSE_MAX_MS; i++)
        pause_ms *= 2;
    if (pause_ms > PAUSE_MAX_MS)
        pause_ms = PAUSE_MAX_MS;
    (void)arm(desk, pause_ms);
}

static void describe(int status, char *out)
{
    if (WIFSIGNALED(status))
        snprintf(out, TEXT_BYTES,
                 "the helper xylem-pmix was killed by signal %d",
                 WTERMSIG(status));
    else
        snprintf(out, TEXT_BYTES,
                 "the helper xylem-pmix ended with exit status %d",
                 WEXITSTATUS(status));
}

/* Reports that a tool is cut off because its helper has ended. */
static void say_cut(const struct helper *helper, int status, const char *how)
{
    const struct px_desk *desk = helper->desk;
    char text[TEXT_BYTES + 64];

    if (status == 0)
        return;
    snprintf(text, sizeof(text),
             "a PMIx tool was disconnected: %s; the session goes on", how);
    if (helper->is_in)
        desk->cfg.on_say(desk->cfg.arg, text);
    else
        note(desk, text);
}

/* Puts the tool of a helper that has failed at the head of the queue, for the
 * next helper, as nothing was read from its connection. There is room in the
 * queue, as tools with helpers count towards its size. */
static void take_back(struct helper *helper, const char *how)
{
    struct px_desk *desk = helper->desk;

    note(desk, how);
    memmove(desk->waiting + 1, desk->waiting,
            desk->waiting_count++ * sizeof(desk->waiting[0]));
    desk->waiting[0] = helper->tool;
    helper->tool = -1;
}

/* Handles the end of a helper, which closes its socket. A helper closes it only
 * by ending, so the status that is reported here is its own and not that of our
 * kill. */
static void on_end(struct helper *helper)
{
    struct px_desk *desk = helper->desk;
    const int status = end_process(helper);
    const enum state state = helper->state;
    char how[TEXT_BYTES];

    describe(status, how);
    if (state == SERVES)
        say_cut(helper, status, how);
    else if (state == HANDED)
        take_back(helper, how);
    else if (state == READY || desk->wrong[0] == '\0')
        snprintf(desk->wrong, sizeof(desk->wrong), "%s", how);
    free_helper(helper);
    if (state == HANDED)
        serve_next(desk);
    else if (state != SERVES)
        try_again(desk);
}

/* The helper has not acknowledged the connection in time: kills it, so that
 * another helper serves the tool. */
static void on_late(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    on_end(arg);
}

/* --- a tool and its helper */

/* Drops waiting tools that have disconnected. */
static void drop_gone(struct px_desk *desk)
{
    unsigned left = 0;

    for (unsigned i = 0; i < desk->waiting_count; i++) {
        struct pollfd at = {.fd = desk->waiting[i], .events = POLLRDHUP};

        if (poll(&at, 1, 0) > 0)
            close(at.fd);
        else
            desk->waiting[left++] = at.fd;
    }
    desk->waiting_count = left;
}

/* Sends the connection of the next tool that waits to the helper in reserve,
 * and keeps it, too, until the helper acknowledges it. When sending fails the
 * helper has ended, which is handled when its socket is read. */
static void serve_next(struct px_desk *desk)
{
    const struct timeval limit = of_ms(desk->cfg.take_ms);
    struct helper *helper = find_helper(desk, READY);

    drop_gone(desk);
    if (desk->waiting_count == 0 || helper == NULL ||
        px_process_give(helper->fd, desk->waiting[0]) != 0)
        return;
    helper->tool = desk->waiting[0];
    memmove(desk->waiting, desk->waiting + 1,
            --desk->waiting_count * sizeof(desk->waiting[0]));
    helper->state = HANDED;
    event_add(helper->late, &limit);
    start_helper(desk);
}

static void on_tool(void *arg, int fd, uid_t uid)
{
    struct px_desk *desk = arg;
    char text[TEXT_BYTES];

    (void)uid;
    drop_gone(desk);
    if (px_desk_tools(desk) >= PX_DESK_TOOLS_MAX) {
        snprintf(text, sizeof(text),
                 "%d PMIx tools are connected, which is the maximum: a further "
                 "one was refused",
                 PX_DESK_TOOLS_MAX);
        note(desk, text);
        close(fd);
        return;
    }
    desk->waiting[desk->waiting_count++] = fd;
    serve_next(desk);
}

/* --- the port, once the first helper has started */

static void on_port_note(void *arg, const char *text)
{
    note(arg, text);
}

static int open_port(struct px_desk *desk, const struct px_contact *contact)
{
    const struct ep_tools_cfg cfg = {.base = desk->cfg.base,
                                     .address = contact->address,
                                     .head_ms = EP_TOOLS_HEAD_MS,
                                     .allows_user = desk->cfg.allows_user,
                                     .allows_root = desk->cfg.allows_root,
                                     .on_tool = on_tool,
                                     .on_note = on_port_note,
                                     .arg = desk};
    int rc = ep_tools_open(&cfg, &desk->tools);

    if (rc != 0)
        snprintf(desk->wrong, sizeof(desk->wrong), "cannot listen on %s: %s",
                 contact->address,
                 rc == OV_ESYS ? strerror(errno) : ov_strerror(rc));
    return rc;
}

static int put_files(struct px_desk *desk, const char *text, size_t len_bytes)
{
    int rc;

    snprintf(desk->server, sizeof(desk->server), "%.*s",
             (int)strcspn(text, ";"), text);
    *strrchr(desk->server, '.') = '\0'; /* cuts off the rank at the end of the
                                         * name */
    if (gethostname(desk->host, sizeof(desk->host) - 1) != 0)
        return OV_ESYS;
    desk->names = (struct px_contact_names){.folder = desk->cfg.folder,
                                            .host = desk->host,
                                            .server = desk->server,
                                            .server_pid = (uint32_t)getpid(),
                                            .job = desk->cfg.job,
                                            .launcher_pid = (uint32_t)getpid()};
    rc = px_contact_put(&desk->names, text, len_bytes);
    desk->has_files = rc == 0;
    return rc;
}

/* Opens the port, and makes the files with the text for tools: libpmix's own
 * text, with our port and pid in it. */
static int open_desk(struct px_desk *desk, const struct px_contact *contact,
                     const char *text, size_t len_bytes)
{
    struct px_contact_move to = {.pid = (uint32_t)getpid()};
    char moved[PX_CONTACT_BYTES_MAX + 1];
    size_t moved_bytes;
    int rc = open_port(desk, contact);

    if (rc != 0)
        return rc;
    to.port = ep_tools_port(desk->tools);
    rc = px_contact_move(text, len_bytes, &to, moved, &moved_bytes);
    if (rc == 0) {
        moved[moved_bytes] = '\0';
        rc = put_files(desk, moved, moved_bytes);
    }
    if (rc != 0) {
        snprintf(desk->wrong, sizeof(desk->wrong),
                 "cannot write files in %.300s: %s", desk->cfg.folder,
                 rc == OV_ESYS ? strerror(errno) : ov_strerror(rc));
        return rc;
    }
    moved[strcspn(moved, "\n")] = '\0';
    desk->cfg.on_up(desk->cfg.arg, moved);
    return 0;
}

/* --- the start of a helper */

/* Handles a helper's first packet: the text of its rendezvous file, or a
 * sentence that says why libpmix does not start. */
static void on_ready(struct helper *helper, const char *text, size_t len_bytes)
{
    struct px_desk *desk = helper->desk;
    struct px_contact contact;

    if (px_contact_parse(text, len_bytes, &contact) != 0) {
        snprintf(desk->wrong, sizeof(desk->wrong),
                 "the helper xylem-pmix says: %.*s", (int)len_bytes, text);
        on_end(helper);
        return;
    }
    helper->state = READY;
    desk->tries = 0;
    if (desk->tools != NULL)
        serve_next(desk);
    else if (open_desk(desk, &contact, text, len_bytes) != 0)
        give_up(desk);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct helper *helper = arg;
    char text[PX_CONTACT_BYTES_MAX];
    ssize_t got = recv(fd, text, sizeof(text), MSG_DONTWAIT);

    (void)what;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0)
        on_end(helper);
    else if (helper->state == STARTS)
        on_ready(helper, text, (size_t)got);
    else
        on_word(helper);
}

static int start_one(struct px_desk *desk)
{
    struct helper *helper = calloc(1, sizeof(*helper));

    if (helper == NULL)
        return OV_ENOMEM;
    if (px_process_start(desk->cfg.path, desk->cfg.argv, &helper->pid,
                         &helper->fd) != 0) {
        free(helper);
        return OV_ESYS;
    }
    helper->desk = desk;
    helper->tool = -1;
    helper->next = desk->helpers;
    desk->helpers = helper;
    helper->reads = event_new(desk->cfg.base, helper->fd, EV_READ | EV_PERSIST,
                              on_readable, helper);
    helper->late = evtimer_new(desk->cfg.base, on_late, helper);
    if (helper->reads != NULL && helper->late != NULL &&
        event_add(helper->reads, NULL) == 0)
        return 0;
    end_helper(helper);
    return OV_ENOMEM;
}

/* Makes the folder; called just before the first helper starts, which removes
 * the folder if we are killed. */
static int make_folder(const struct px_desk *desk)
{
    return px_folder_make(desk->cfg.folder) == 0 || errno == EEXIST ? 0
                                                                    : OV_ESYS;
}

/* Starts the next helper for the reserve. */
static void start_helper(struct px_desk *desk)
{
    int rc;

    desk->tries++;
    desk->wrong[0] = '\0';
    rc = make_folder(desk);
    if (rc == 0)
        rc = start_one(desk);
    if (rc == 0)
        return;
    snprintf(desk->wrong, sizeof(desk->wrong), "%.300s cannot be started: %s",
             desk->cfg.path, rc == OV_ESYS ? strerror(errno) : ov_strerror(rc));
    try_again(desk);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct px_desk *desk = arg;

    (void)fd;
    (void)what;
    desk->has_started = true;
    start_helper(desk);
}

/* --- opening and closing */

int px_desk_open(const struct px_desk_cfg *cfg, struct px_desk **out)
{
    struct px_desk *desk = calloc(1, sizeof(*desk));

    *out = NULL;
    if (desk == NULL)
        return OV_ENOMEM;
    desk->cfg = *cfg;
    desk->again = evtimer_new(cfg->base, on_again, desk);
    if (desk->again == NULL || arm(desk, cfg->first_ms) != 0) {
        px_desk_close(desk);
        return OV_ENOMEM;
    }
    *out = desk;
    return 0;
}

void px_desk_start_in(struct px_desk *desk, unsigned ms)
{
    if (!desk->has_started && !desk->is_hurried)
        (void)arm(desk, ms);
    desk->is_hurried = true;
}

/* Kills the helpers without a tool. Returns the first helper that serves a
 * tool, or NULL. */
static struct helper *end_idle(struct px_desk *desk)
{
    struct helper *at;

    while ((at = find_helper(desk, STARTS)) != NULL ||
           (at = find_helper(desk, READY)) != NULL)
        end_helper(at);
    return desk->helpers;
}

/* Waits until the helpers have ended, one after the other, and kills those that
 * take too long. */
static void await_helpers(struct px_desk *desk)
{
    const int64_t until_ms = ep_clock_ms() + PX_DESK_END_MS;
    struct helper *at = end_idle(desk);

    while (at != NULL) {
        struct pollfd end = {.fd = at->fd, .events = POLLIN};
        const int64_t left_ms = until_ms - ep_clock_ms();

        if (left_ms <= 0 || poll(&end, 1, (int)left_ms) != 1)
            return;
        end_helper(at);
        at = desk->helpers;
    }
}

void px_desk_close(struct px_desk *desk)
{
    if (desk == NULL)
        return;
    ep_tools_close(desk->tools);
    await_helpers(desk);
    while (desk->helpers != NULL)
        end_helper(desk->helpers);
    drop_waiting(desk);
    if (desk->has_files)
        px_contact_remove(&desk->names);
    if (desk->again != NULL)
        event_free(desk->again);
    free(desk);
}
