/* The door of a session. */
#include "config.h"

#include "endpoints/client/door.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/client/door_name.h"
#include "endpoints/client/viewers.h"
#include "endpoints/client/watchers.h"
#include "endpoints/sys/why.h"
#include "job/door.h"
#include "overlay/base/err.h"
#include "text/fields.h"

enum {
    THERE_MAX = 2 * EP_DOOR_CLIENTS_MAX, /* the most clients, including those
                                          * about to be refused */
    HELLO_S = 10, /* A client that has sent no HELLO after this time is
                   * disconnected. */
    LOOK_S = 60,
    REST_S = 1,
};

struct client {
    struct ep_door *door;
    struct client *next;
    struct event *reads; /* owned; NULL while no event loop serves the door */
    struct ep_viewer *viewer; /* owned; NULL: the client has asked for no job */
    struct ep_watcher *watcher; /* owned; NULL: the client does not watch */
    int fd;                     /* owned */
    bool is_greeted;
    /* whether the client has yet to get an answer to ADDRESS */
    bool awaits_tools;
};

struct ep_door {
    struct ep_door_cfg cfg;
    struct ep_door_name name;
    struct event *comes;  /* owned: fires when a client connects */
    struct event *rest;   /* owned: fires when the process may have descriptors
                           * to spare again */
    struct event *look;   /* owned: fires when ep_door_look() is due */
    struct client *first; /* owned */
    unsigned clients;
    struct ep_viewers *viewers; /* owned: the clients that look at a job */
    /* The answer to ADDRESS: TOOLS or REFUSED; kind 0 when there is none
     * yet. */
    struct job_door tools;
};

/* --- answers to clients */

/* Sends a message. When the client does not read its answers and its socket is
 * full, the message is lost. */
static void say(const struct client *client, const struct job_door *msg)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    job_door_encode(&wr, msg);
    if (!wr.bad)
        (void)send(client->fd, mem, (size_t)(wr.at - mem),
                   MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool refuse(const struct client *client, const char *why)
{
    struct job_door msg = {.kind = JOB_DOOR_REFUSED};

    snprintf(msg.text, sizeof(msg.text), "%s", why);
    say(client, &msg);
    return false;
}

static void drop_client(struct client *client)
{
    struct ep_door *door = client->door;
    struct client **at = &door->first;

    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    door->clients--;
    if (client->viewer != NULL)
        ep_viewer_close(client->viewer);
    if (client->watcher != NULL)
        ep_watcher_close(client->watcher);
    if (client->reads != NULL)
        event_free(client->reads);
    close(client->fd);
    free(client);
}

/* --- requests of clients; a handler returns false to disconnect the client */

static bool hello(struct client *client, const struct job_door *msg)
{
    const struct ep_door *door = client->door;
    struct job_door answer = {.kind = JOB_DOOR_WELCOME,
                              .is_dvm = door->cfg.is_dvm};
    char why[EP_WHY_MAX];

    if (msg->version != JOB_DOOR_VERSION) {
        snprintf(
            why, sizeof(why),
            "the session was started by xylem %s (protocol %d), but this is "
            "xylem %.32s (protocol %u): use the version that started it",
            PACKAGE_VERSION, JOB_DOOR_VERSION, msg->text, msg->version);
        return refuse(client, why);
    }
    if (door->clients > EP_DOOR_CLIENTS_MAX) {
        snprintf(why, sizeof(why),
                 "%d clients are connected to the session, which is the "
                 "maximum: try again when one has left",
                 EP_DOOR_CLIENTS_MAX);
        return refuse(client, why);
    }
    client->is_greeted = true;
    event_remove_timer(client->reads);
    snprintf(answer.text, sizeof(answer.text), "%s", door->cfg.name);
    say(client, &answer);
    return true;
}

static bool stop(struct client *client, const struct job_door *msg)
{
    const struct ep_door_cfg *cfg = &client->door->cfg;

    (void)msg;
    cfg->events->on_stop(cfg->arg);
    return true;
}

static bool address(struct client *client, const struct job_door *msg)
{
    const struct job_door *tools = &client->door->tools;

    (void)msg;
    client->awaits_tools = tools->kind == 0;
    if (tools->kind != 0)
        say(client, tools);
    return true;
}

static void on_cut(void *arg, const char *why)
{
    struct client *client = arg;

    client->viewer = NULL;
    client->watcher = NULL;
    if (why != NULL)
        (void)refuse(client, why);
    drop_client(client);
}

static const struct ep_viewer_events viewer_events = {.on_cut = on_cut};
static const struct ep_watcher_events watcher_events = {.on_cut = on_cut};

/* Tells whether the client has said if it wants a job or to watch. */
static bool is_bound(const struct client *client)
{
    return client->viewer != NULL || client->watcher != NULL;
}

static bool list(struct client *client, const struct job_door *msg)
{
    char hosts[EP_VIEWERS_HOSTS_BYTES];
    struct job_door answer;

    ep_viewers_list(client->door->viewers, msg->base, hosts, &answer);
    say(client, &answer);
    return true;
}

static bool groups(struct client *client, const struct job_door *msg)
{
    struct job_door answer = {.kind = JOB_DOOR_GROUPED};
    struct text_buf text = {0};

    answer.is_over = !ep_viewers_groups(client->door->viewers, msg->base, &text,
                                        &answer.is_more);
    if (!text.bad && text.len_bytes <= JOB_DOOR_REST_MAX)
        answer.rest = ov_rd_init((const uint8_t *)text.at, text.len_bytes);
    say(client, &answer);
    text_buf_fini(&text);
    return true;
}

static bool attach(struct client *client, const struct job_door *msg)
{
    char why[JOB_DOOR_TEXT_MAX];

    if (is_bound(client))
        return refuse(
            client,
            "a client that watches or has a job must not attach to a job");
    client->viewer = ep_viewer_open(client->door->viewers, client->fd,
                                    msg->text, &viewer_events, client, why);
    return client->viewer != NULL || refuse(client, why);
}

static bool watch(struct client *client, const struct job_door *msg)
{
    struct ep_watchers *all = ep_viewers_watchers(client->door->viewers);
    const char *why;

    (void)msg;
    if (is_bound(client))
        return refuse(
            client,
            "a client can either have a job or watch, and watch only once");
    client->watcher =
        ep_watcher_open(all, client->fd, &watcher_events, client, &why);
    return client->watcher != NULL || refuse(client, why);
}

static bool spawn(struct client *client, const struct job_door *msg)
{
    const char *why = "the session is out of memory";

    if (client->watcher != NULL)
        return refuse(
            client,
            "a client can either have a job or watch, and watch only once");
    if (client->viewer == NULL)
        client->viewer = ep_viewer_ask(client->door->viewers, client->fd,
                                       &viewer_events, client);
    if (client->viewer != NULL)
        why = ep_viewer_hear(client->viewer, msg);
    return why == NULL || refuse(client, why);
}

static bool pass_on(struct client *client, const struct job_door *msg)
{
    const char *why =
        "a client must attach to a job, or watch, before it sends "
        "requests";

    if (client->watcher != NULL)
        why = ep_watcher_hear(client->watcher, msg);
    else if (client->viewer != NULL)
        why = ep_viewer_hear(client->viewer, msg);
    return why == NULL || refuse(client, why);
}

/* What a client may request, when, and of which session. */
static const struct {
    bool (*hear)(struct client *client, const struct job_door *msg);
    /* this must be the client's first request, and must not be repeated */
    bool is_first;
    bool of_dvm; /* only a dvm accepts this request */
} asks[JOB_DOOR_KINDS] = {
    [JOB_DOOR_HELLO] = {.hear = hello, .is_first = true},
    [JOB_DOOR_STOP] = {.hear = stop, .of_dvm = true},
    [JOB_DOOR_ADDRESS] = {.hear = address},
    [JOB_DOOR_LIST] = {.hear = list},
    [JOB_DOOR_GROUPS] = {.hear = groups},
    [JOB_DOOR_ATTACH] = {.hear = attach},
    [JOB_DOOR_WHERE] = {.hear = pass_on},
    [JOB_DOOR_RANGES] = {.hear = pass_on},
    [JOB_DOOR_PULL] = {.hear = pass_on},
    [JOB_DOOR_TAKEN] = {.hear = pass_on},
    [JOB_DOOR_PUSH] = {.hear = pass_on},
    [JOB_DOOR_SPAWN] = {.hear = spawn},
    [JOB_DOOR_SIGNAL] = {.hear = pass_on},
    [JOB_DOOR_WATCH] = {.hear = watch},
    [JOB_DOOR_DESCRIBE] = {.hear = pass_on},
    [JOB_DOOR_NAME] = {.hear = pass_on},
    [JOB_DOOR_LOG] = {.hear = pass_on},
    [JOB_DOOR_EVENT] = {.hear = pass_on},
    [JOB_DOOR_NOTE] = {.hear = pass_on},
};

static bool hear_packet(struct client *client, struct ov_rd packet)
{
    struct job_door msg;

    if (job_door_decode(packet, &msg) != 0 || asks[msg.kind].hear == NULL)
        return refuse(client, "the session cannot understand this client");
    if (asks[msg.kind].is_first == client->is_greeted)
        return refuse(client, "a client must send HELLO first, and only once");
    if (asks[msg.kind].of_dvm && !client->door->cfg.is_dvm)
        return refuse(client, "the session is no dvm");
    return asks[msg.kind].hear(client, &msg);
}

/* --- clients */

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct client *client = arg;
    uint8_t mem[JOB_DOOR_BYTES_MAX + 1];
    ssize_t got = 0;

    if ((what & EV_TIMEOUT) == 0)
        got = recv(fd, mem, sizeof(mem), MSG_DONTWAIT);
    /* When a client has closed its socket without reading everything, recv()
     * fails once before it returns the client's last messages. */
    if (got < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNRESET))
        return;
    if (got <= 0 || !hear_packet(client, ov_rd_init(mem, (size_t)got)))
        drop_client(client);
}

/* Begins to read the client's messages. Returns 0 or OV_ENOMEM. */
static int serve_client(struct client *client)
{
    static const struct timeval hello = {.tv_sec = HELLO_S};

    client->reads = event_new(client->door->cfg.base, client->fd,
                              EV_READ | EV_PERSIST, on_readable, client);
    return client->reads == NULL ||
                   event_add(client->reads,
                             client->is_greeted ? NULL : &hello) != 0
               ? OV_ENOMEM
               : 0;
}

static bool is_welcome(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static void add_client(struct ep_door *door, int fd)
{
    struct client *client = calloc(1, sizeof(*client));

    if (client == NULL) {
        close(fd);
        return;
    }
    *client = (struct client){.door = door, .next = door->first, .fd = fd};
    door->first = client;
    door->clients++;
    if (serve_client(client) != 0)
        drop_client(client);
}

static void rest(struct ep_door *door)
{
    static const struct timeval wait = {.tv_sec = REST_S};

    event_del(door->comes);
    event_add(door->rest, &wait);
}

/* Accepts a client. A client for which there is no descriptor, or that is one
 * too many, waits in the kernel. */
static void on_comes(evutil_socket_t fd, short what, void *arg)
{
    struct ep_door *door = arg;
    int came = -1;

    (void)what;
    errno = EMFILE;
    if (door->clients < THERE_MAX)
        came = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (came < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
        rest(door);
    if (came < 0)
        return;
    if (is_welcome(came))
        add_client(door, came);
    else
        close(came);
}

static void on_rest(evutil_socket_t fd, short what, void *arg)
{
    struct ep_door *door = arg;

    (void)fd;
    (void)what;
    event_add(door->comes, NULL);
}

/* --- serving the door */

static void free_event(struct event **event)
{
    if (*event != NULL)
        event_free(*event);
    *event = NULL;
}

static int attend(struct ep_door *door)
{
    door->comes = event_new(door->cfg.base, door->name.fd, EV_READ | EV_PERSIST,
                            on_comes, door);
    return door->comes == NULL || event_add(door->comes, NULL) != 0 ? OV_ENOMEM
                                                                    : 0;
}

/* Opens the folder anew, as it may have been replaced by another one of the
 * same name. */
void ep_door_look(struct ep_door *door)
{
    char why[EP_WHY_MAX];

    if (ep_door_name_is_there(&door->name))
        return;
    free_event(&door->comes);
    event_del(door->rest);
    ep_door_name_close(&door->name);
    if (ep_door_name_open(&door->name, why) == 0)
        (void)attend(door);
    else
        ep_door_name_close(&door->name); /* The next look tries again. */
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval next = {.tv_sec = LOOK_S};
    struct ep_door *door = arg;

    (void)fd;
    (void)what;
    ep_door_look(door);
    event_add(door->look, &next);
}

int ep_door_serve(struct ep_door *door, const struct ep_door_cfg *cfg)
{
    static const struct timeval next = {.tv_sec = LOOK_S};
    int rc = OV_ENOMEM;

    if (door == NULL)
        return 0;
    door->cfg = *cfg;
    door->rest = evtimer_new(cfg->base, on_rest, door);
    door->look = evtimer_new(cfg->base, on_look, door);
    if (door->rest != NULL && door->look != NULL &&
        event_add(door->look, &next) == 0)
        rc = attend(door);
    for (struct client *at = door->first; rc == 0 && at != NULL; at = at->next)
        rc = serve_client(at);
    if (rc != 0)
        ep_door_pause(door);
    return rc;
}

void ep_door_pause(struct ep_door *door)
{
    if (door == NULL)
        return;
    free_event(&door->comes);
    free_event(&door->rest);
    free_event(&door->look);
    for (struct client *at = door->first; at != NULL; at = at->next)
        free_event(&at->reads);
    door->tools.kind = 0;
}

/* --- the address to which tools connect */

static void answer(struct ep_door *door, uint8_t kind, const char *text)
{
    if (door == NULL)
        return;
    door->tools = (struct job_door){.kind = kind};
    snprintf(door->tools.text, sizeof(door->tools.text), "%s", text);
    for (struct client *client = door->first; kind != 0 && client != NULL;
         client = client->next) {
        if (client->awaits_tools)
            say(client, &door->tools);
        client->awaits_tools = false;
    }
}

void ep_door_tools(struct ep_door *door, const char *address)
{
    answer(door, address != NULL ? JOB_DOOR_TOOLS : 0,
           address != NULL ? address : "");
}

void ep_door_no_tools(struct ep_door *door, const char *why)
{
    answer(door, JOB_DOOR_REFUSED, why);
}

struct ep_viewers *ep_door_viewers(struct ep_door *door)
{
    return door != NULL ? door->viewers : NULL;
}

/* --- beginning and end */

int ep_door_open(struct ep_door **out, char *why)
{
    struct ep_door *door = calloc(1, sizeof(*door));
    int rc;

    *out = NULL;
    snprintf(why, EP_WHY_MAX, "out of memory");
    if (door == NULL)
        return OV_ENOMEM;
    door->name.folder = door->name.fd = -1;
    door->viewers = ep_viewers_new();
    rc =
        door->viewers != NULL ? ep_door_name_open(&door->name, why) : OV_ENOMEM;
    if (rc != 0)
        ep_door_close(door);
    else
        *out = door;
    return rc;
}

void ep_door_close(struct ep_door *door)
{
    if (door == NULL)
        return;
    ep_door_pause(door);
    while (door->first != NULL)
        drop_client(door->first);
    ep_viewers_free(door->viewers);
    ep_door_name_close(&door->name);
    free(door);
}
