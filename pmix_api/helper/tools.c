/* Tools and their sockets. */
#include "pmix_api/helper/tools.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pmix_api/helper/gate.h"
#include "pmix_api/helper/job.h"
#include "pmix_api/helper/sockets.h"
#include "pmix_api/helper/talk.h"

/* What the kernel may hold for a tool: a socket that is writable then has room
 * for a batch of deliveries. The kernel doubles it. */
enum { SEND_BYTES = 256 * 1024 };

/* A connection that says nothing is ended at this look at it, TOOLS_GREET_MS
 * each. The library serves nobody else meanwhile: so one more only where nobody
 * else wants to come in, and in less time than a tool has at the end of a job.
 */
enum { LOOKS = 2, LOOKS_ALONE = 3 };

struct tool {
    struct px_socket sock; /* fd -1: free */
    pmix_proc_t name;
    unsigned left; /* entries in the library, of its namespace's others */
};

/* No tool yet. */
struct silent {
    struct px_socket sock;
    unsigned looks; /* at which it had said nothing, one after another */
};

static struct {
    pthread_mutex_t lock;
    struct tool tools[TOOLS_MAX];
    unsigned count;
    unsigned named; /* names given so far */
    int greeter;    /* what the library reads; -1: it does not say */
    uint16_t port;
    uint8_t allow;
    struct silent silent[SOCKETS_MAX]; /* seen at the last sweep */
    unsigned silent_count;
} tools = {.lock = PTHREAD_MUTEX_INITIALIZER, .greeter = -1};

void px_tools_open(uint16_t port, uint8_t allow)
{
    tools.port = port;
    tools.allow = allow;
    for (unsigned i = 0; i < TOOLS_MAX; i++)
        tools.tools[i].sock.fd = -1;
}

static bool is_equal(const struct px_socket *a, const struct px_socket *b)
{
    return a->fd == b->fd && a->port == b->port;
}

static bool is_tool(const struct px_socket *sock)
{
    for (unsigned i = 0; i < TOOLS_MAX; i++) {
        if (is_equal(&tools.tools[i].sock, sock))
            return true;
    }
    return false;
}

static bool may_enter(const struct px_socket *sock)
{
    struct px_peer peer;

    if (!px_socket_peer(sock, &peer))
        return false;
    return (peer.uid == geteuid() && (tools.allow & PX_ALLOW_USER) != 0) ||
           (peer.uid == 0 && (tools.allow & PX_ALLOW_ROOT) != 0);
}

/* The one that the library has just read the greeting of, and no other: it
 * serves one at a time, and what it has refused it has closed. */
static bool find_greeter(struct px_socket *out)
{
    struct px_socket list[SOCKETS_MAX];
    unsigned count = px_sockets_list(tools.port, list);

    for (unsigned i = 0; i < count; i++) {
        if (tools.greeter >= 0 && list[i].fd != tools.greeter)
            continue;
        if (!is_tool(&list[i]) && px_socket_is_read(&list[i])) {
            *out = list[i];
            return true;
        }
    }
    return false;
}

static struct tool *find_named(const pmix_proc_t *name)
{
    for (unsigned i = 0; i < TOOLS_MAX; i++) {
        struct tool *tool = &tools.tools[i];

        if (tool->sock.fd >= 0 && tool->name.rank == name->rank &&
            strcmp(tool->name.nspace, name->nspace) == 0)
            return tool;
    }
    return NULL;
}

static struct tool *find_space(const char *nspace)
{
    for (unsigned i = 0; i < TOOLS_MAX; i++) {
        struct tool *tool = &tools.tools[i];

        if (tool->sock.fd >= 0 && strcmp(tool->name.nspace, nspace) == 0)
            return tool;
    }
    return NULL;
}

static struct tool *find_free(void)
{
    for (unsigned i = 0; i < TOOLS_MAX; i++) {
        if (tools.tools[i].sock.fd < 0)
            return &tools.tools[i];
    }
    return NULL;
}

/* With whoever has one of these the library would forget a job, itself, or the
 * tools that a rank stands for. */
static bool is_ours(const pmix_proc_t *name)
{
    const char *own = px_job_own(), *rest;
    size_t len = strlen(own);

    if (name->rank > PMIX_RANK_VALID ||
        strcmp(name->nspace, "xylem-nobody") == 0)
        return true;
    rest = name->nspace + len;
    return strncmp(name->nspace, own, len) == 0 &&
           (*rest == '\0' || *rest == '.' || strcmp(rest, "-server") == 0);
}

/* What it is called; no tool has this name. */
static void name_it(const pmix_proc_t *given, pmix_proc_t *out)
{
    if (given != NULL) {
        *out = *given;
        return;
    }
    out->rank = 0;
    do
        snprintf(out->nspace, sizeof(out->nspace), "xylem-tool-%d-%u",
                 (int)getpid(), ++tools.named);
    while (find_space(out->nspace) != NULL);
}

static const char *admit(const pmix_proc_t *given, const struct px_socket *sock,
                         pmix_proc_t *out)
{
    static const int bytes = SEND_BYTES;
    struct tool *tool = find_free();

    if (!may_enter(sock))
        return "it is of a user who may not connect";
    if (tool == NULL)
        return "there are too many";
    if (given != NULL && find_named(given) != NULL)
        return "its name is taken";
    if (given != NULL && is_ours(given))
        return "its name is that of a job or a server";
    name_it(given, out);
    setsockopt(sock->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    *tool = (struct tool){.sock = *sock, .name = *out};
    tools.count++;
    px_gate_admit(sock->fd);
    return NULL;
}

void px_tools_greet(int fd)
{
    pthread_mutex_lock(&tools.lock);
    tools.greeter = fd;
    pthread_mutex_unlock(&tools.lock);
}

/* The library never closes what it has no answer for. */
static void refuse(const struct px_socket *sock)
{
    if (tools.greeter >= 0)
        close(tools.greeter);
    else if (sock->fd >= 0)
        px_socket_end(sock);
}

bool px_tools_admit(const pmix_proc_t *given, pmix_proc_t *out)
{
    struct px_socket sock = {.fd = -1};
    const char *why = "it is gone";

    pthread_mutex_lock(&tools.lock);
    if (find_greeter(&sock))
        why = admit(given, &sock, out);
    if (why != NULL)
        refuse(&sock);
    pthread_mutex_unlock(&tools.lock);
    if (why != NULL)
        px_talk_note("a PMIx tool was refused: %s", why);
    else
        px_talk_note("PMIx tool %s.%u has connected", out->nspace, out->rank);
    return why == NULL;
}

/* The last one of a namespace takes the entries of all with it. */
static void forget(struct tool *tool, struct px_gone *gone)
{
    struct tool *other;

    *gone = (struct px_gone){.name = tool->name, .entries = tool->left + 1};
    tool->sock.fd = -1;
    tools.count--;
    other = find_space(tool->name.nspace);
    if (other == NULL)
        return;
    other->left += gone->entries;
    gone->entries = 0;
}

bool px_tools_reap(struct px_gone *gone)
{
    bool is_gone = false;

    pthread_mutex_lock(&tools.lock);
    for (unsigned i = 0; i < TOOLS_MAX && !is_gone; i++) {
        struct tool *tool = &tools.tools[i];

        is_gone = tool->sock.fd >= 0 && !px_socket_is_same(&tool->sock);
        if (is_gone)
            forget(tool, gone);
    }
    pthread_mutex_unlock(&tools.lock);
    return is_gone;
}

unsigned px_tools_count(void)
{
    unsigned count;

    pthread_mutex_lock(&tools.lock);
    count = tools.count;
    pthread_mutex_unlock(&tools.lock);
    return count;
}

bool px_tools_has(const struct px_socket *sock)
{
    bool has;

    pthread_mutex_lock(&tools.lock);
    has = sock->fd >= 0 && is_tool(sock);
    pthread_mutex_unlock(&tools.lock);
    return has;
}

bool px_tools_has_fd(int fd)
{
    bool has = false;

    pthread_mutex_lock(&tools.lock);
    for (unsigned i = 0; i < TOOLS_MAX; i++)
        has |= tools.tools[i].sock.fd == fd;
    pthread_mutex_unlock(&tools.lock);
    return has;
}

static unsigned looks_at(const struct px_socket *sock)
{
    for (unsigned i = 0; i < tools.silent_count; i++) {
        if (is_equal(&tools.silent[i].sock, sock))
            return tools.silent[i].looks;
    }
    return 0;
}

/* Those that are no tool's, of which others' are at an end. Returns how many
 * are left. */
static unsigned list_strangers(struct silent *list, struct px_socket *end,
                               unsigned *ends)
{
    struct px_socket all[SOCKETS_MAX];
    unsigned count = px_sockets_list(tools.port, all), left = 0;

    for (unsigned i = 0; i < count; i++) {
        if (is_tool(&all[i]))
            continue;
        if (!may_enter(&all[i]))
            end[(*ends)++] = all[i];
        else
            list[left++] = (struct silent){all[i], 0};
    }
    return left;
}

/* All are judged before one is ended: at that the library goes on, and reads
 * what the next one has said. */
bool px_tools_sweep(void)
{
    struct silent list[SOCKETS_MAX];
    struct px_socket end[SOCKETS_MAX];
    unsigned count, ends = 0, kept = 0, most;

    pthread_mutex_lock(&tools.lock);
    count = list_strangers(list, end, &ends);
    most = count > 1 ? LOOKS : LOOKS_ALONE;
    for (unsigned i = 0; i < count; i++) {
        if (px_socket_is_silent(&list[i].sock))
            list[i].looks = 1 + looks_at(&list[i].sock);
        if (list[i].looks >= most)
            end[ends++] = list[i].sock;
        else
            list[kept++] = list[i];
    }
    memcpy(tools.silent, list, kept * sizeof(list[0]));
    tools.silent_count = kept;
    for (unsigned i = 0; i < ends; i++)
        px_socket_end(&end[i]);
    pthread_mutex_unlock(&tools.lock);
    return kept > 0;
}

uint64_t px_tools_unsent_bytes(void)
{
    uint64_t sum = 0;

    pthread_mutex_lock(&tools.lock);
    for (unsigned i = 0; i < TOOLS_MAX; i++) {
        const struct px_socket *sock = &tools.tools[i].sock;

        if (sock->fd >= 0 && px_socket_is_same(sock))
            sum += px_socket_unsent(sock);
    }
    pthread_mutex_unlock(&tools.lock);
    return sum;
}

void px_tools_end(const pmix_proc_t *name)
{
    const struct tool *tool;

    pthread_mutex_lock(&tools.lock);
    tool = find_named(name);
    if (tool != NULL)
        px_socket_end(&tool->sock);
    pthread_mutex_unlock(&tools.lock);
    px_talk_note("PMIx tool %s.%u was cut off: it pushes without waiting for "
                 "answers",
                 name->nspace, name->rank);
}
