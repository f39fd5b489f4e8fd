/* The relay tree: options, processes, event loop.
 *
 *     relay down|up [-N NODES] [-k ARITY] -- PROGRAM [ARGS...]
 *
 * Node 0, the caller, hosts no process; nodes 1 to N host one each, numbered
 * level by level. Output goes up in both modes; in the mode `up` the standard
 * input of the processes ends at once. The exit code is the worst of all.
 */
#include "config.h"

#include "bench/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct plan {
    uint32_t nodes; /* without the root */
    uint32_t arity;
    bool feed; /* the root's standard input goes down */
    char **argv;
    int *listeners; /* of each node; -1 for a leaf */
    in_port_t *ports;
};

struct node {
    uint32_t number;
    int child_count;
    int epoll;
    pid_t process;
    struct relay_end parent;
    struct relay_end children[RELAY_ARITY_MAX];
    struct relay_end to_process;
    struct relay_end from_process;
    struct relay_end signals;
    struct relay_down down;
    struct relay_up up;
};

static void usage(void)
{
    fputs("usage: relay down|up [-N NODES] [-k ARITY] -- PROGRAM [ARGS...]\n",
          stderr);
    exit(2);
}

static uint32_t number_get(const char *text, uint32_t max)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*text == '\0' || *end != '\0' || value < 1 || value > max)
        usage();
    return (uint32_t)value;
}

static int child_count(const struct plan *plan, uint32_t number)
{
    uint64_t first = (uint64_t)number * plan->arity + 1;

    if (first > plan->nodes)
        return 0;
    uint64_t left = plan->nodes - first + 1;
    return (int)(left < plan->arity ? left : plan->arity);
}

static int loopback_listen(int backlog, in_port_t *port)
{
    struct sockaddr_in addr = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof addr;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof addr) != 0 ||
        listen(fd, backlog) != 0 ||
        getsockname(fd, (struct sockaddr *)&addr, &len) != 0)
        relay_die("no listening socket");
    *port = addr.sin_port;
    return fd;
}

/* Every listener exists before the first node starts, so no dial can fail. */
static void plan_listen(struct plan *plan)
{
    plan->listeners = calloc(plan->nodes + 1, sizeof *plan->listeners);
    plan->ports = calloc(plan->nodes + 1, sizeof *plan->ports);
    if (plan->listeners == NULL || plan->ports == NULL)
        relay_die("no memory");
    for (uint32_t i = 0; i <= plan->nodes; i++) {
        int count = child_count(plan, i);

        plan->listeners[i] = -1;
        if (count > 0)
            plan->listeners[i] = loopback_listen(count, &plan->ports[i]);
    }
}

static void watch(struct node *node, struct relay_end *end, uint32_t events)
{
    struct epoll_event ev = {.events = events | EPOLLET, .data.ptr = end};

    if (epoll_ctl(node->epoll, EPOLL_CTL_ADD, end->fd, &ev) == 0)
        return;
    if (errno != EPERM)
        relay_die("epoll");
    end->plain = true;
    end->can_read = true;
}

static void nonblock(int fd)
{
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
        relay_die("fcntl");
}

static void link_open(struct node *node, struct relay_end *end, int fd)
{
    int on = 1;

    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        relay_die("TCP_NODELAY");
    nonblock(fd);
    end->fd = fd;
    watch(node, end, EPOLLIN | EPOLLOUT | EPOLLRDHUP);
}

static void parent_dial(const struct plan *plan, struct node *node)
{
    uint32_t parent = (node->number - 1) / plan->arity;
    struct sockaddr_in addr = {.sin_family = AF_INET,
                               .sin_port = plan->ports[parent],
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof addr) != 0)
        relay_die("dialling the parent");
    link_open(node, &node->parent, fd);
}

static void children_accept(const struct plan *plan, struct node *node)
{
    node->child_count = child_count(plan, node->number);
    for (int i = 0; i < node->child_count; i++) {
        int fd =
            accept4(plan->listeners[node->number], NULL, NULL, SOCK_CLOEXEC);

        if (fd < 0)
            relay_die("accepting a child");
        link_open(node, &node->children[i], fd);
    }
    for (uint32_t i = 0; i <= plan->nodes; i++) {
        if (plan->listeners[i] >= 0)
            close(plan->listeners[i]);
    }
}

static _Noreturn void process_exec(const struct plan *plan, uint32_t number,
                                   int in, int out)
{
    char text[16];
    sigset_t none;

    snprintf(text, sizeof text, "%u", number - 1);
    setenv("XYLEM_RANK", text, 1);
    snprintf(text, sizeof text, "%u", plan->nodes);
    setenv("XYLEM_SIZE", text, 1);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
        _exit(126);
    execvp(plan->argv[0], plan->argv);
    fprintf(stderr, "relay: %s: %s\n", plan->argv[0], strerror(errno));
    _exit(127);
}

static void process_start(const struct plan *plan, struct node *node)
{
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
        relay_die("pipe");
    node->process = fork();
    if (node->process < 0)
        relay_die("fork");
    if (node->process == 0)
        process_exec(plan, node->number, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    nonblock(in[1]);
    nonblock(out[0]);
    node->to_process.fd = in[1];
    node->from_process.fd = out[0];
    watch(node, &node->to_process, EPOLLOUT);
    watch(node, &node->from_process, EPOLLIN);
}

static void signals_open(struct node *node)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    node->signals.fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (node->signals.fd < 0)
        relay_die("signalfd");
    watch(node, &node->signals, EPOLLIN);
}

static void out_add(struct node *node, struct relay_end *end, bool is_pipe)
{
    node->down.outs[node->down.out_count++] =
        (struct relay_out){.end = end, .open = true, .is_pipe = is_pipe};
}

static void input_add(struct node *node, struct relay_end *end, bool process)
{
    struct relay_input *in = &node->up.inputs[node->up.input_count++];

    in->end = end;
    in->is_process = process;
    relay_ring_init(&in->ring, RELAY_UP_RING);
}

/* Child i is out i and input i; the process comes last in both. */
static void node_wire(const struct plan *plan, struct node *node)
{
    bool root = node->number == 0;

    relay_ring_init(&node->down.ring, RELAY_DOWN_RING);
    node->down.source = &node->parent;
    node->down.eof = root && !plan->feed;
    node->up.owner = -1;
    node->up.source = node->number;
    node->up.parent = root ? NULL : &node->parent;
    node->up.process_left = !root;
    for (int i = 0; i < node->child_count; i++) {
        out_add(node, &node->children[i], false);
        input_add(node, &node->children[i], false);
    }
    if (!root) {
        out_add(node, &node->to_process, true);
        input_add(node, &node->from_process, true);
    }
}

static void process_reap(struct node *node)
{
    struct signalfd_siginfo info;
    uint32_t code;
    int status;

    while (read(node->signals.fd, &info, sizeof info) > 0)
        continue;
    node->signals.can_read = false;
    if (!node->up.process_left ||
        waitpid(node->process, &status, WNOHANG) != node->process)
        return;
    code = WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status)
                             : 128 + (uint32_t)WTERMSIG(status);
    if (code > node->up.status)
        node->up.status = code;
    node->up.process_left = false;
    relay_down_close(&node->down.outs[node->child_count]);
}

static void events_wait(struct node *node)
{
    struct epoll_event events[RELAY_ARITY_MAX + 4];
    int count = epoll_wait(node->epoll, events, RELAY_ARITY_MAX + 4, -1);

    for (int i = 0; i < count; i++) {
        struct relay_end *end = events[i].data.ptr;
        uint32_t seen = events[i].events;

        if (seen & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            end->hung_up = true;
        if (seen & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            end->can_read = true;
        if (seen & (EPOLLOUT | EPOLLHUP | EPOLLERR))
            end->can_write = true;
    }
    if (node->signals.can_read)
        process_reap(node);
}

/* A node is done when its END is written and its parent has let it go. */
static bool node_is_done(const struct node *node)
{
    if (node->up.parent == NULL)
        return relay_up_is_done(&node->up);
    return node->up.end_sent && node->down.eof;
}

static void node_run(struct node *node)
{
    while (!node_is_done(node)) {
        bool moved = relay_down_step(&node->down);

        moved |= relay_up_step(&node->up);
        for (int i = 0; i < node->child_count; i++) {
            if (node->up.inputs[i].ended)
                relay_down_close(&node->down.outs[i]);
        }
        if (!moved && !node_is_done(node))
            events_wait(node);
    }
}

static _Noreturn void node_main(const struct plan *plan, uint32_t number)
{
    struct node *node = calloc(1, sizeof *node);

    if (node == NULL)
        relay_die("no memory");
    node->number = number;
    node->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (node->epoll < 0)
        relay_die("epoll");
    signal(SIGPIPE, SIG_IGN);
    if (number > 0) {
        signals_open(node);
        parent_dial(plan, node);
    } else if (plan->feed) {
        node->parent.fd = STDIN_FILENO;
        watch(node, &node->parent, EPOLLIN);
    }
    children_accept(plan, node);
    if (number > 0)
        process_start(plan, node);
    node_wire(plan, node);
    node_run(node);
    while (number == 0 && wait(NULL) > 0)
        continue; /* the times of these messages are part of the caller's times
                   */
    exit(number == 0 ? (int)node->up.status : 0);
}

static void nodes_fork(const struct plan *plan)
{
    for (uint32_t i = 1; i <= plan->nodes; i++) {
        pid_t pid = fork();

        if (pid < 0)
            relay_die("fork");
        if (pid > 0)
            continue;
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
            dup2(null, STDOUT_FILENO) < 0)
            relay_die("/dev/null");
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        node_main(plan, i);
    }
}

int main(int argc, char **argv)
{
    struct plan plan = {.nodes = 32, .arity = 4};
    int option;

    if (argc < 2)
        usage();
    if (strcmp(argv[1], "down") == 0)
        plan.feed = true;
    else if (strcmp(argv[1], "up") != 0)
        usage();
    argc--;
    argv++;
    while ((option = getopt(argc, argv, "+N:k:")) != -1) {
        if (option == 'N')
            plan.nodes = number_get(optarg, RELAY_NODES_MAX);
        else if (option == 'k')
            plan.arity = number_get(optarg, RELAY_ARITY_MAX);
        else
            usage();
    }
    if (optind >= argc)
        usage();
    plan.argv = argv + optind;
    plan_listen(&plan);
    nodes_fork(&plan);
    node_main(&plan, 0);
}
