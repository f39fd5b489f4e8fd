/* The provider strict: what a network card would not forgive ends the process
 * with the name of the rule. Each violation happens in a forked child that
 * opens everything by itself. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <rdma/fi_cm.h>

#include "tests/unit/strict_net.h"

enum { TEXT_MAX = 4096 };

#define OK(call) assert_int_equal(call, 0)

/* Everything that a violation needs: both ends up, two receives posted. */
struct bench {
    struct net net;
    struct net_op recv[2];
    struct net_op send;
};

static void bench_up(struct bench *bench)
{
    memset(bench, 0, sizeof(*bench));
    net_open(&bench->net, 0);
    net_join(&bench->net, bench->recv, 2);
}

static void send_without_descriptor(struct bench *b)
{
    bench_up(b);
    (void)fi_send(b->net.active, b->net.mem, 8, NULL, 0, &b->send);
}

static void send_past_the_region(struct bench *b)
{
    bench_up(b);
    (void)fi_send(b->net.active, b->net.mem + 1, NET_MEM_BYTES, b->net.desc, 0,
                  &b->send);
}

static void send_before_the_region(struct bench *b)
{
    bench_up(b);
    (void)fi_send(b->net.active, b->net.mem - 1, 8, b->net.desc, 0, &b->send);
}

static void receive_with_closed_region(struct bench *b)
{
    bench_up(b);
    OK(fi_close(&b->net.mr->fid));
    (void)fi_recv(b->net.active, b->net.mem, 8, b->net.desc, 0, &b->send);
}

static void receive_without_access(struct bench *b)
{
    struct fid_mr *mr;

    bench_up(b);
    OK(fi_mr_reg(b->net.domain, b->net.mem, 64, FI_SEND, 0, 0, 0, &mr, NULL));
    (void)fi_recv(b->net.active, b->net.mem, 8, fi_mr_desc(mr), 0, &b->send);
}

static void region_closed_in_use(struct bench *b)
{
    bench_up(b);
    (void)fi_close(&b->net.other_mr->fid);
}

static void region_not_mapped(struct bench *b)
{
    struct fid_mr *mr;

    bench_up(b);
    (void)fi_mr_reg(b->net.domain, (void *)4096, 64, FI_SEND, 0, 0, 0, &mr,
                    NULL);
}

static void long_connect_data(struct bench *b)
{
    net_open(&b->net, 0);
    net_dial(&b->net, 56);
}

static void long_accept_data(struct bench *b)
{
    net_open(&b->net, 0);
    net_dial(&b->net, 0);
    while (b->net.request == NULL)
        net_pump(&b->net);
    net_take(&b->net);
    (void)fi_accept(b->net.passive, b->net.mem, 56);
}

static void long_reject_data(struct bench *b)
{
    net_open(&b->net, 0);
    net_dial(&b->net, 0);
    while (b->net.request == NULL)
        net_pump(&b->net);
    (void)fi_reject(b->net.pep, b->net.request->handle, b->net.mem, 56);
}

static void request_answered_twice(struct bench *b)
{
    net_open(&b->net, 0);
    net_dial(&b->net, 0);
    while (b->net.request == NULL)
        net_pump(&b->net);
    OK(fi_reject(b->net.pep, b->net.request->handle, NULL, 0));
    (void)fi_reject(b->net.pep, b->net.request->handle, NULL, 0);
}

static void request_never_answered(struct bench *b)
{
    net_open(&b->net, 0);
    net_dial(&b->net, 0);
    while (b->net.request == NULL)
        net_pump(&b->net);
    (void)fi_close(&b->net.pep->fid);
}

static void long_inject(struct bench *b)
{
    bench_up(b);
    (void)fi_inject(b->net.active, b->net.mem, 65, 0);
}

static void four_parts(struct bench *b)
{
    struct iovec iov[4];
    void *desc[4];

    bench_up(b);
    for (int i = 0; i < 4; i++) {
        iov[i] = (struct iovec){.iov_base = b->net.mem, .iov_len = 8};
        desc[i] = b->net.desc;
    }
    (void)fi_sendv(b->net.active, iov, desc, 4, 0, &b->send);
}

static void queue_overrun(struct bench *b)
{
    net_open(&b->net, 2);
    net_join(&b->net, b->recv, 2);
    (void)fi_send(b->net.active, b->net.mem, 8, b->net.desc, 0, &b->send);
}

static void send_before_connected(struct bench *b)
{
    net_open(&b->net, 0);
    net_dial(&b->net, 0);
    (void)fi_send(b->net.active, b->net.mem, 8, b->net.desc, 0, &b->send);
}

static void context_changed(struct bench *b)
{
    bench_up(b);
    net_send(&b->net, b->net.active, &b->send, 0, 8);
    b->send.context.internal[1] = NULL;
    while (!b->send.is_done)
        net_pump(&b->net);
}

static void context_missing(struct bench *b)
{
    bench_up(b);
    (void)fi_send(b->net.active, b->net.mem, 8, b->net.desc, 0, NULL);
}

static void bytes_changed_in_flight(struct bench *b)
{
    bench_up(b);
    net_send(&b->net, b->net.active, &b->send, 0, 8);
    b->net.mem[7] = 1;
    while (!b->send.is_done)
        net_pump(&b->net);
}

static void dial_without_address(struct bench *b)
{
    net_open(&b->net, 0);
    (void)fi_endpoint(b->net.domain, b->net.info, &b->net.active, NULL);
}

static void second_dial(struct bench *b)
{
    bench_up(b);
    (void)fi_connect(b->net.active, b->net.info->src_addr, NULL, 0);
}

static void domain_closed_first(struct bench *b)
{
    bench_up(b);
    (void)fi_close(&b->net.domain->fid);
}

static void enabled_without_queues(struct bench *b)
{
    struct fid_ep *ep;

    bench_up(b);
    b->net.info->dest_addr = malloc(b->net.info->src_addrlen);
    assert_non_null(b->net.info->dest_addr);
    memcpy(b->net.info->dest_addr, b->net.info->src_addr,
           b->net.info->src_addrlen);
    b->net.info->dest_addrlen = b->net.info->src_addrlen;
    OK(fi_endpoint(b->net.domain, b->net.info, &ep, NULL));
    (void)fi_enable(ep);
}

static void one_request_two_endpoints(struct bench *b)
{
    struct fid_ep *ep;

    net_open(&b->net, 0);
    net_dial(&b->net, 0);
    while (b->net.request == NULL)
        net_pump(&b->net);
    OK(fi_endpoint(b->net.domain, b->net.request, &ep, NULL));
    (void)fi_endpoint(b->net.domain, b->net.request, &ep, NULL);
}

static void receive_before_enabled(struct bench *b)
{
    struct fid_ep *ep;

    net_open(&b->net, 0);
    net_dial(&b->net, 0);
    while (b->net.request == NULL)
        net_pump(&b->net);
    OK(fi_endpoint(b->net.domain, b->net.request, &ep, NULL));
    (void)fi_recv(ep, b->net.mem, 8, b->net.desc, 0, &b->send);
}

static void accepted_twice(struct bench *b)
{
    bench_up(b);
    (void)fi_accept(b->net.passive, NULL, 0);
}

/* The grandchild aborts, and the child ends in the same way. */
static void used_after_fork(struct bench *b)
{
    int status = 0;
    pid_t pid;

    bench_up(b);
    pid = fork();
    if (pid == 0)
        (void)fi_send(b->net.active, b->net.mem, 8, b->net.desc, 0, &b->send);
    if (pid == 0)
        _exit(0);
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status))
        raise(WTERMSIG(status));
}

struct violation {
    const char *name;
    const char *expected;
    void (*commit)(struct bench *bench);
};

// clang-format off
static const struct violation violations[] = {
    {"a send without a descriptor is caught",
     "strict: MR: send of 8 bytes without a descriptor",
     send_without_descriptor},
    {"a send past its region is caught",
     "strict: MR: send of 65536 bytes at", send_past_the_region},
    {"a send before its region is caught",
     "strict: MR: send of 8 bytes at", send_before_the_region},
    {"a receive with a closed region's descriptor is caught",
     "strict: MR: receive with descriptor", receive_with_closed_region},
    {"a receive into a region for sends is caught",
     "strict: MR: receive in a region registered without FI_RECV",
     receive_without_access},
    {"closing a region in use is caught",
     "strict: MR: closed while 2 operations", region_closed_in_use},
    {"registering what is not mapped is caught",
     "strict: MR: registered 64 bytes at", region_not_mapped},
    {"56 bytes of data with connect are caught",
     "strict: CM: fi_connect() with 56 bytes", long_connect_data},
    {"56 bytes of data with accept are caught",
     "strict: CM: fi_accept() with 56 bytes", long_accept_data},
    {"56 bytes of data with reject are caught",
     "strict: CM: fi_reject() with 56 bytes", long_reject_data},
    {"a request answered twice is caught",
     "strict: CONNREQ: rejected a request that was answered",
     request_answered_twice},
    {"a request never answered is caught",
     "strict: CONNREQ: a passive endpoint is closed", request_never_answered},
    {"65 bytes injected are caught",
     "strict: INJECT: 65 bytes injected, 64", long_inject},
    {"a send of four parts is caught",
     "strict: IOV: send of 4 parts, 3", four_parts},
    {"more operations than the queue holds are caught",
     "strict: CQ: 3 operations in flight can overrun a completion queue of 2",
     queue_overrun},
    {"a send before the connection is caught",
     "strict: STATE: send posted before FI_CONNECTED", send_before_connected},
    {"context memory changed in flight is caught",
     "strict: CONTEXT: context memory", context_changed},
    {"missing context memory is caught",
     "strict: CONTEXT: send without context memory", context_missing},
    {"bytes changed before the send is complete are caught",
     "strict: BUFFER: bytes of a send were changed", bytes_changed_in_flight},
    {"an active endpoint without an address is caught",
     "strict: ADDRESS: an active endpoint", dial_without_address},
    {"dialling twice is caught",
     "strict: STATE: fi_connect() on an endpoint", second_dial},
    {"an endpoint enabled without queues is caught",
     "strict: BIND: an endpoint is enabled without", enabled_without_queues},
    {"two endpoints for one request are caught",
     "strict: CONNREQ: two endpoints", one_request_two_endpoints},
    {"a receive before enabling is caught",
     "strict: STATE: receive posted before", receive_before_enabled},
    {"accepting twice is caught",
     "strict: STATE: fi_accept() on an endpoint", accepted_twice},
    {"use in a forked child is caught",
     "strict: FORK: an endpoint is used", used_after_fork},
    {"a domain closed before its objects is caught",
     "strict: CLOSE: domain closed while", domain_closed_first},
};
// clang-format on

enum { VIOLATIONS = sizeof(violations) / sizeof(violations[0]) };

static _Noreturn void violate(const struct violation *violation, int fd)
{
    static struct bench bench;

    /* The libraries may have set a handler for the signal. */
    signal(SIGABRT, SIG_DFL);
    dup2(fd, STDERR_FILENO);
    violation->commit(&bench);
    _exit(0);
}

static void read_all(int fd, char *text)
{
    size_t at = 0;
    ssize_t got;

    while ((got = read(fd, text + at, TEXT_MAX - 1 - at)) > 0)
        at += (size_t)got;
    text[at] = '\0';
}

/* The child must die by its own abort() and must have written why. */
static void violation_is_caught(void **state)
{
    const struct violation *violation = *state;
    char text[TEXT_MAX];
    int pipe_fds[2], status = 0;
    pid_t pid;

    OK(pipe(pipe_fds));
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        violate(violation, pipe_fds[1]);
    close(pipe_fds[1]);
    read_all(pipe_fds[0], text);
    close(pipe_fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (strncmp(text, violation->expected, strlen(violation->expected)) != 0)
        fail_msg("expected \"%s\", got \"%s\"", violation->expected, text);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

int main(void)
{
    struct CMUnitTest tests[VIOLATIONS];

    net_find_provider();
    for (int i = 0; i < VIOLATIONS; i++)
        tests[i] = (struct CMUnitTest){.name = violations[i].name,
                                       .test_func = violation_is_caught,
                                       .initial_state =
                                           (void *)(uintptr_t)&violations[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
