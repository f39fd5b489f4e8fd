/* The provider strict: legal operations work through it, within its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#include "tests/unit/strict_net.h"

enum { TEXT_MAX = 4096, POISON = 0xA5 };

#define OK(call) assert_int_equal(call, 0)

/* Private data arrives on both sides, then bytes do, and nothing is left. */
static void endpoints_connect_and_exchange(void **state)
{
    struct net_op recv = {0}, send = {0};
    struct net net;

    (void)state;
    net_open(&net, 0);
    net_join(&net, &recv, 1);
    assert_int_equal(net.connected, 2);
    memcpy(net.mem, "strict", 6);
    net_send(&net, net.active, &send, 0, 6);
    while (!recv.is_done || !send.is_done)
        net_pump(&net);
    assert_int_equal(recv.len_bytes, 6);
    assert_memory_equal(net.other_mem, "strict", 6);
    net_close(&net);
}

/* Many random refusals cost only effort: with every third post refused, 200
 * messages arrive in order. */
static void messages_survive_refusals_in_order(void **state)
{
    struct net_op recv = {0}, send = {0};
    struct net net;

    (void)state;
    setenv("STRICT_EAGAIN", "33", 1);
    net_open(&net, 0);
    net_join(&net, &recv, 1);
    for (uint32_t i = 0; i < 200; i++) {
        size_t len_bytes = sizeof(i) + i % 900;

        send = (struct net_op){0};
        memcpy(net.mem, &i, sizeof(i));
        net_send(&net, net.active, &send, 0, len_bytes);
        while (!recv.is_done || !send.is_done)
            net_pump(&net);
        assert_int_equal(recv.len_bytes, len_bytes);
        assert_memory_equal(net.other_mem, &i, sizeof(i));
        recv = (struct net_op){0};
        net_recv(&net, net.passive, &recv, 0, 1024);
    }
    net_close(&net);
    setenv("STRICT_EAGAIN", "0", 1);
}

/* A rejected dial reports the listener's private data and leaves nothing. */
static void rejection_reaches_the_dialler(void **state)
{
    struct net net;

    (void)state;
    net_open(&net, 0);
    net_dial(&net, 55);
    while (net.request == NULL)
        net_pump(&net);
    assert_int_equal(net.cm_len_bytes, 55);
    OK(fi_reject(net.pep, net.request->handle, "no", 2));
    fi_freeinfo(net.request);
    while (net.err == 0)
        net_pump(&net);
    assert_int_equal(net.err, FI_ECONNREFUSED);
    assert_int_equal(net.cm_len_bytes, 2);
    net_close(&net);
}

/* The peer goes away: the other side is told, and its receives come back. */
static void loss_cancels_posted_receives(void **state)
{
    struct net_op recv[2] = {{.is_done = false}};
    struct net net;

    (void)state;
    net_open(&net, 0);
    net_join(&net, recv, 2);
    OK(fi_shutdown(net.active, 0));
    while (net.shut < 1 || !recv[0].is_done || !recv[1].is_done)
        net_pump(&net);
    assert_int_equal(recv[0].err, FI_ECANCELED);
    assert_int_equal(recv[1].err, FI_ECANCELED);
    net_close(&net);
}

/* A program that reads a receive buffer too early gets a pattern, not old
 * bytes. */
static void posted_receives_are_poisoned(void **state)
{
    struct net_op recv = {0};
    struct net net;

    (void)state;
    net_open(&net, 0);
    memset(net.other_mem, 7, NET_MEM_BYTES);
    net_join(&net, &recv, 1);
    for (size_t i = 0; i < 1024; i++)
        assert_int_equal(net.other_mem[i], POISON);
    assert_int_equal(net.other_mem[1024], 7);
    net_close(&net);
}

/* Sends 20 frames, each with its receive posted before or after it. */
static void send_twenty(bool is_late)
{
    struct net_op recv = {0}, send;
    struct net net;

    net_open(&net, 0);
    net_join(&net, NULL, 0);
    for (int i = 0; i < 20; i++) {
        recv = send = (struct net_op){0};
        if (!is_late)
            net_recv(&net, net.passive, &recv, 0, 1024);
        net_send(&net, net.active, &send, 0, 8);
        while (!send.is_done)
            net_pump(&net);
        if (is_late)
            net_recv(&net, net.passive, &recv, 0, 1024);
        while (!recv.is_done)
            net_pump(&net);
    }
    net_close(&net);
}

/* A frame that meets no receive is noted, one that meets one is not. */
static void frames_without_receive_are_noted(void **state)
{
    const char *folder = getenv("TMPDIR");
    char path[TEXT_MAX], text[TEXT_MAX] = "";
    unsigned frames = 0;
    int fd;

    (void)state;
    snprintf(path, sizeof(path), "%s/strict-XXXXXX",
             folder != NULL ? folder : "/tmp");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    setenv("STRICT_REPORT", path, 1);
    send_twenty(false);
    assert_int_equal(read(fd, text, sizeof(text) - 1), 0);
    send_twenty(true);
    assert_true(read(fd, text, sizeof(text) - 1) > 0);
    assert_int_equal(sscanf(text, "strict: RNR: %u frames came", &frames), 1);
    assert_in_range(frames, 1, 20);
    unsetenv("STRICT_REPORT");
    close(fd);
    unlink(path);
}

static void depths_are_enforced(void **state)
{
    struct net_op recv[NET_DEPTH + 1] = {{.is_done = false}};
    struct net_op send[NET_DEPTH + 1] = {{.is_done = false}};
    struct net net;

    (void)state;
    net_open(&net, 0);
    net_join(&net, recv, NET_DEPTH);
    assert_int_equal(fi_recv(net.passive, net.other_mem, 8, net.other_desc, 0,
                             &recv[NET_DEPTH]),
                     -FI_EAGAIN);
    for (int i = 0; i < NET_DEPTH; i++)
        net_send(&net, net.active, &send[i], 0, 8);
    assert_int_equal(
        fi_send(net.active, net.mem, 8, net.desc, 0, &send[NET_DEPTH]),
        -FI_EAGAIN);
    assert_int_equal(fi_inject(net.active, net.mem, 8, 0), -FI_EAGAIN);
    while (!send[0].is_done)
        net_pump(&net);
    OK(fi_inject(net.active, net.mem, 64, 0));
    net_close(&net);
}

static uint32_t refusals(const char *seed)
{
    struct net_op recv[32] = {{.is_done = false}};
    struct net net;
    uint32_t seen = 0;

    setenv("STRICT_SEED", seed, 1);
    net_open(&net, 0);
    net_dial(&net, 0);
    setenv("STRICT_EAGAIN", "0", 1);
    for (int i = 0; i < NET_DEPTH; i++)
        seen = seen << 1 |
               (fi_recv(net.active, net.mem, 8, net.desc, 0, &recv[i]) != 0);
    while (net.request == NULL)
        net_pump(&net);
    OK(fi_reject(net.pep, net.request->handle, NULL, 0));
    fi_freeinfo(net.request);
    net_close(&net);
    unsetenv("STRICT_SEED");
    return seen;
}

/* The same seed refuses the same posts; another seed refuses others. */
static void chance_follows_the_seed(void **state)
{
    uint32_t first, again, other;

    (void)state;
    setenv("STRICT_EAGAIN", "50", 1);
    first = refusals("7");
    setenv("STRICT_EAGAIN", "50", 1);
    again = refusals("7");
    setenv("STRICT_EAGAIN", "50", 1);
    other = refusals("8");
    assert_int_equal(first, again);
    assert_int_not_equal(first, other);
    setenv("STRICT_EAGAIN", "0", 1);
}

static void limits_are_told(void **state)
{
    struct net net;
    size_t limit = 0, len_bytes = sizeof(limit);

    (void)state;
    net_open(&net, 0);
    OK(fi_getopt(&net.pep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &limit,
                 &len_bytes));
    assert_int_equal(limit, 55);
    assert_int_equal(net.info->tx_attr->inject_size, 64);
    assert_int_equal(net.info->tx_attr->iov_limit, 3);
    assert_int_equal(net.info->tx_attr->size, NET_DEPTH);
    assert_string_equal(net.info->fabric_attr->prov_name, "strict");
    assert_true((net.info->domain_attr->mr_mode & FI_MR_LOCAL) != 0);
    assert_true((net.info->mode & FI_CONTEXT2) != 0);
    net_close(&net);
}

static int offered(struct fi_info *hints)
{
    struct fi_info *list = NULL;
    int rc = fi_getinfo(FI_VERSION(1, 11), "127.0.0.1", "0", FI_SOURCE, hints,
                        &list);

    fi_freeinfo(list);
    fi_freeinfo(hints);
    return rc;
}

static void hints_that_ask_too_much_find_nothing(void **state)
{
    struct fi_info *hints = net_hints();

    (void)state;
    hints->domain_attr->mr_mode &= ~FI_MR_LOCAL;
    assert_int_equal(offered(hints), -FI_ENODATA);
    hints = net_hints();
    hints->tx_attr->inject_size = 65;
    assert_int_equal(offered(hints), -FI_ENODATA);
    hints = net_hints();
    hints->tx_attr->iov_limit = 4;
    assert_int_equal(offered(hints), -FI_ENODATA);
    hints = net_hints();
    hints->caps |= FI_RMA;
    assert_int_equal(offered(hints), -FI_ENODATA);
    assert_int_equal(offered(net_hints()), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endpoints_connect_and_exchange),
        cmocka_unit_test(messages_survive_refusals_in_order),
        cmocka_unit_test(rejection_reaches_the_dialler),
        cmocka_unit_test(loss_cancels_posted_receives),
        cmocka_unit_test(posted_receives_are_poisoned),
        cmocka_unit_test(frames_without_receive_are_noted),
        cmocka_unit_test(depths_are_enforced),
        cmocka_unit_test(chance_follows_the_seed),
        cmocka_unit_test(limits_are_told),
        cmocka_unit_test(hints_that_ask_too_much_find_nothing),
    };

    net_find_provider();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
