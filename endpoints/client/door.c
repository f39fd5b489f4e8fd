/* The door of a session. */
#include "config.h"

#include "endpoints/client/door.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/client/folder.h"
#include "endpoints/sys/why.h"
#include "job/door.h"
#include "overlay/base/err.h"

enum { BACKLOG = 2 * EP_DOOR_CLIENTS_MAX, NAME_BYTES = 16 };

struct client {
    struct ep_door *door;
    struct client *next;
    struct event *reads; /* owned */
    int fd;              /* owned */
    bool is_greeted;
    bool awaits_tools; /* an answer to ADDRESS is due */
};

struct ep_door {
    struct ep_door_cfg cfg;
    int folder, fd; /* owned */
    char name[NAME_BYTES];
    bool is_listed;       /* the name in the folder is ours */
    struct event *comes;  /* owned: another client */
    struct event *rest;   /* owned: no more descriptors, for a time */
    struct client *first; /* owned */
    unsigned clients;
    /* What ADDRESS is answered with: TOOLS or REFUSED; kind 0: not yet. */
    struct job_door tools;
};

/* --- what it is told */

/* There is room: a client has one answer at a time. */
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

/* --- what it asks; false: it is cut off */

static bool hello(struct client *client, const struct job_door *msg)
{
    const struct ep_door_cfg *cfg = &client->door->cfg;
    struct job_door answer = {.kind = JOB_DOOR_WELCOME, .is_dvm = cfg->is_dvm};
    char why[EP_WHY_MAX];

    if (msg->version != JOB_DOOR_VERSION) {
        snprintf(why, sizeof(why),
                 "the session is of xylem %s (door %d) and this is xylem %.32s "
                 "(door %u): use the one that has started it",
                 PACKAGE_VERSION, JOB_DOOR_VERSION, msg->text, msg->version);
        return refuse(client, why);
    }
    client->is_greeted = true;
    snprintf(answer.text, sizeof(answer.text), "%s", cfg->name);
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

/* Who may ask what, and when. */
static const struct {
    bool (*hear)(struct client *client, const struct job_door *msg);
    bool is_first; /* before anything else, and once */
    bool of_dvm;   /* of no other session */
} asks[JOB_DOOR_KINDS] = {
    [JOB_DOOR_HELLO] = {.hear = hello, .is_first = true},
    [JOB_DOOR_STOP] = {.hear = stop, .of_dvm = true},
    [JOB_DOOR_ADDRESS] = {.hear = address},
};

static bool hear(struct client *client, struct ov_rd packet)
{
    struct job_door msg;

    if (job_door_decode(packet, &msg) != 0 || asks[msg.kind].hear == NULL)
        return refuse(client, "this makes no sense to the session");
    if (asks[msg.kind].is_first == client->is_greeted)
        return refuse(client, "a client says HELLO first, and once");
    if (asks[msg.kind].of_dvm && !client->door->cfg.is_dvm)
        return refuse(client, "the session is no dvm");
    return asks[msg.kind].hear(client, &msg);
}

/* --- clients */

static void drop(struct client *client)
{
    struct ep_door *door = client->door;
    struct client **at = &door->first;

    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    door->clients--;
    if (client->reads != NULL)
        event_free(client->reads);
    close(client->fd);
    free(client);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct client *client = arg;
    uint8_t mem[JOB_DOOR_BYTES_MAX + 1];
    ssize_t got = recv(fd, mem, sizeof(mem), MSG_DONTWAIT);

    (void)what;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0 || !hear(client, ov_rd_init(mem, (size_t)got)))
        drop(client);
}

static bool is_welcome(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static void add(struct ep_door *door, int fd)
{
    struct client *client = calloc(1, sizeof(*client));

    if (client == NULL) {
        close(fd);
        return;
    }
    *client = (struct client){.door = door, .next = door->first, .fd = fd};
    door->first = client;
    door->clients++;
    if (door->clients > EP_DOOR_CLIENTS_MAX) {
        (void)refuse(client, "the session has 128 clients, and takes no more");
        drop(client);
        return;
    }
    client->reads = event_new(door->cfg.base, fd, EV_READ | EV_PERSIST,
                              on_readable, client);
    if (client->reads == NULL || event_add(client->reads, NULL) != 0)
        drop(client);
}

/* Where there is no descriptor for it, it waits in the kernel. */
static void on_comes(evutil_socket_t fd, short what, void *arg)
{
    static const struct timeval wait = {.tv_sec = 1};
    struct ep_door *door = arg;
    int came = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)what;
    if (came < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
        event_del(door->comes);
        event_add(door->rest, &wait);
    }
    if (came < 0)
        return;
    if (is_welcome(came))
        add(arg, came);
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

/* --- it opens */

/* In containers that share the folder a number may be that of two. */
static bool is_taken(const struct ep_door *door)
{
    int fd = ep_door_dial(door->folder, getpid());

    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno == EAGAIN;
}

/* Who sees the name can connect: it is another one until the socket listens. */
static int listen_at(struct ep_door *door, char *why)
{
    char early[NAME_BYTES + 1];
    struct sockaddr_un at;

    snprintf(door->name, sizeof(door->name), "%d", (int)getpid());
    snprintf(early, sizeof(early), ".%s", door->name);
    at = ep_door_address(door->folder, early);
    ep_door_sweep(door->folder);
    if (is_taken(door)) {
        snprintf(why, EP_WHY_MAX,
                 "another session with the number %s, of a container that has "
                 "the same folder for doors, has its own there",
                 door->name);
        return OV_ESYS;
    }
    (void)unlinkat(door->folder, early, 0);
    if (bind(door->fd, (const struct sockaddr *)&at, sizeof(at)) != 0 ||
        listen(door->fd, BACKLOG) != 0 ||
        renameat(door->folder, early, door->folder, door->name) != 0) {
        snprintf(why, EP_WHY_MAX, "%s", strerror(errno));
        (void)unlinkat(door->folder, early, 0);
        return OV_ESYS;
    }
    door->is_listed = true;
    return 0;
}

static int open_all(struct ep_door *door, char *why)
{
    int rc;

    door->folder = ep_door_folder_make(why);
    if (door->folder < 0)
        return OV_ESYS;
    door->fd =
        socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (door->fd < 0) {
        snprintf(why, EP_WHY_MAX, "no socket: %s", strerror(errno));
        return OV_ESYS;
    }
    rc = listen_at(door, why);
    if (rc != 0)
        return rc;
    door->comes = event_new(door->cfg.base, door->fd, EV_READ | EV_PERSIST,
                            on_comes, door);
    door->rest = evtimer_new(door->cfg.base, on_rest, door);
    if (door->comes != NULL && door->rest != NULL &&
        event_add(door->comes, NULL) == 0)
        return 0;
    snprintf(why, EP_WHY_MAX, "out of memory");
    return OV_ENOMEM;
}

int ep_door_open(const struct ep_door_cfg *cfg, struct ep_door **out, char *why)
{
    struct ep_door *door = calloc(1, sizeof(*door));
    int rc;

    *out = NULL;
    snprintf(why, EP_WHY_MAX, "out of memory");
    if (door == NULL)
        return OV_ENOMEM;
    *door = (struct ep_door){.cfg = *cfg, .folder = -1, .fd = -1};
    rc = open_all(door, why);
    if (rc != 0) {
        ep_door_close(door);
        return rc;
    }
    *out = door;
    return 0;
}

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

void ep_door_close(struct ep_door *door)
{
    if (door == NULL)
        return;
    while (door->first != NULL)
        drop(door->first);
    if (door->comes != NULL)
        event_free(door->comes);
    if (door->rest != NULL)
        event_free(door->rest);
    if (door->is_listed)
        (void)unlinkat(door->folder, door->name, 0);
    if (door->fd >= 0)
        close(door->fd);
    if (door->folder >= 0)
        close(door->folder);
    free(door);
}
