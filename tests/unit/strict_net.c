/* Two endpoints of one process, joined through the provider strict. */
#include "tests/unit/strict_net.h"

#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

enum { LIVENESS_MS = 20000, CQ_BATCH = 4 };

#define OK(call) assert_int_equal(call, 0)

struct fi_info *net_hints(void)
{
    struct fi_info *hints = fi_allocinfo();

    assert_non_null(hints);
    hints->caps = FI_MSG;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->addr_format = FI_SOCKADDR;
    hints->ep_attr->type = FI_EP_MSG;
    hints->tx_attr->size = NET_DEPTH;
    hints->rx_attr->size = NET_DEPTH;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = strdup("strict");
    return hints;
}

static void open_queues(struct net *net, size_t cq_size)
{
    struct fi_eq_attr eq = {.wait_obj = FI_WAIT_FD};
    struct fi_cq_attr cq = {.size = cq_size > 0 ? cq_size : NET_CQ,
                            .format = FI_CQ_FORMAT_MSG,
                            .wait_obj = FI_WAIT_FD};

    OK(fi_eq_open(net->fabric, &eq, &net->eq, NULL));
    OK(fi_cq_open(net->domain, &cq, &net->cq, NULL));
}

static void open_memory(struct net *net)
{
    uint64_t access = FI_SEND | FI_RECV;

    net->mem = calloc(1, NET_MEM_BYTES);
    net->other_mem = calloc(1, NET_MEM_BYTES);
    assert_non_null(net->mem);
    assert_non_null(net->other_mem);
    OK(fi_mr_reg(net->domain, net->mem, NET_MEM_BYTES, access, 0, 0, 0,
                 &net->mr, NULL));
    OK(fi_mr_reg(net->domain, net->other_mem, NET_MEM_BYTES, access, 0, 0, 0,
                 &net->other_mr, NULL));
    net->desc = fi_mr_desc(net->mr);
    net->other_desc = fi_mr_desc(net->other_mr);
}

void net_open(struct net *net, size_t cq_size)
{
    struct fi_info *hints = net_hints();

    memset(net, 0, sizeof(*net));
    OK(fi_getinfo(FI_VERSION(1, 11), "127.0.0.1", "0", FI_SOURCE, hints,
                  &net->info));
    fi_freeinfo(hints);
    OK(fi_fabric(net->info->fabric_attr, &net->fabric, NULL));
    OK(fi_domain(net->fabric, net->info, &net->domain, NULL));
    open_queues(net, cq_size);
    open_memory(net);
    OK(fi_passive_ep(net->fabric, net->info, &net->pep, net));
    OK(fi_pep_bind(net->pep, &net->eq->fid, 0));
    OK(fi_listen(net->pep));
}

static void bind_ep(struct net *net, struct fid_ep *ep)
{
    OK(fi_ep_bind(ep, &net->eq->fid, 0));
    OK(fi_ep_bind(ep, &net->cq->fid, FI_TRANSMIT | FI_RECV));
    OK(fi_enable(ep));
}

void net_dial(struct net *net, size_t cm_len_bytes)
{
    struct sockaddr_storage addr;
    size_t len_bytes = sizeof(addr);
    struct fi_info *info = fi_dupinfo(net->info);
    uint8_t cm[NET_CM_BYTES];

    assert_non_null(info);
    memset(cm, 0x11, sizeof(cm));
    OK(fi_getname(&net->pep->fid, &addr, &len_bytes));
    info->dest_addr = malloc(len_bytes);
    assert_non_null(info->dest_addr);
    memcpy(info->dest_addr, &addr, len_bytes);
    info->dest_addrlen = len_bytes;
    OK(fi_endpoint(net->domain, info, &net->active, &net->active));
    bind_ep(net, net->active);
    OK(fi_connect(net->active, info->dest_addr, cm, cm_len_bytes));
    fi_freeinfo(info);
}

void net_take(struct net *net)
{
    OK(fi_endpoint(net->domain, net->request, &net->passive, &net->passive));
    bind_ep(net, net->passive);
    fi_freeinfo(net->request);
    net->request = NULL;
}

static void on_event(struct net *net, uint32_t event,
                     const struct fi_eq_cm_entry *entry, size_t len_bytes)
{
    net->cm_len_bytes = len_bytes - sizeof(*entry);
    assert_true(net->cm_len_bytes <= sizeof(net->cm));
    memcpy(net->cm, entry->data, net->cm_len_bytes);
    if (event == FI_CONNREQ) {
        assert_ptr_equal(entry->fid, &net->pep->fid);
        assert_ptr_equal(entry->fid->context, net);
        net->request = entry->info;
        return;
    }
    assert_true(entry->fid == &net->active->fid ||
                entry->fid == &net->passive->fid);
    if (event == FI_CONNECTED)
        net->connected++;
    if (event == FI_SHUTDOWN)
        net->shut++;
}

static bool read_eq(struct net *net)
{
    union {
        struct fi_eq_cm_entry entry;
        uint8_t room[sizeof(struct fi_eq_cm_entry) + NET_CM_BYTES];
    } mem;
    struct fi_eq_err_entry error = {0};
    uint32_t event;
    ssize_t rc = fi_eq_read(net->eq, &event, &mem, sizeof(mem), 0);

    if (rc == -FI_EAGAIN)
        return false;
    if (rc == -FI_EAVAIL) {
        assert_true(fi_eq_readerr(net->eq, &error, 0) > 0);
        assert_ptr_equal(error.fid, &net->active->fid);
        assert_ptr_equal(error.context, &net->active);
        net->err = error.err;
        net->cm_len_bytes = error.err_data_size;
        return true;
    }
    assert_true(rc > 0);
    on_event(net, event, &mem.entry, (size_t)rc);
    return true;
}

static bool read_cq(struct net *net)
{
    struct fi_cq_msg_entry entries[CQ_BATCH];
    struct fi_cq_err_entry error = {0};
    ssize_t count = fi_cq_read(net->cq, entries, CQ_BATCH);
    struct net_op *op;

    if (count == -FI_EAGAIN)
        return false;
    if (count == -FI_EAVAIL) {
        assert_int_equal(fi_cq_readerr(net->cq, &error, 0), 1);
        op = error.op_context;
        op->is_done = true;
        op->err = error.err;
        return true;
    }
    assert_true(count > 0);
    for (ssize_t i = 0; i < count; i++) {
        op = entries[i].op_context;
        assert_false(op->is_done);
        op->is_done = true;
        op->len_bytes = entries[i].len;
    }
    return true;
}

void net_pump(struct net *net)
{
    struct fid *fids[2] = {&net->eq->fid, &net->cq->fid};
    struct pollfd fds[2] = {{.events = POLLIN}, {.events = POLLIN}};
    bool was_eq = read_eq(net), was_cq = read_cq(net);

    if (was_eq || was_cq || fi_trywait(net->fabric, fids, 2) != 0)
        return;
    OK(fi_control(fids[0], FI_GETWAIT, &fds[0].fd));
    OK(fi_control(fids[1], FI_GETWAIT, &fds[1].fd));
    assert_true(poll(fds, 2, LIVENESS_MS) > 0);
}

void net_join(struct net *net, struct net_op *ops, unsigned receives)
{
    net_dial(net, 3);
    while (net->request == NULL)
        net_pump(net);
    net_take(net);
    for (unsigned i = 0; i < receives; i++)
        net_recv(net, net->passive, &ops[i], (size_t)i * 1024, 1024);
    OK(fi_accept(net->passive, "hello", 5));
    while (net->connected < 2)
        net_pump(net);
}

void net_recv(struct net *net, struct fid_ep *ep, struct net_op *op,
              size_t off_bytes, size_t len_bytes)
{
    ssize_t rc;

    do {
        rc = fi_recv(ep, net->other_mem + off_bytes, len_bytes, net->other_desc,
                     0, op);
    } while (rc == -FI_EAGAIN);
    assert_int_equal(rc, 0);
}

void net_send(struct net *net, struct fid_ep *ep, struct net_op *op,
              size_t off_bytes, size_t len_bytes)
{
    ssize_t rc;

    do {
        rc = fi_send(ep, net->mem + off_bytes, len_bytes, net->desc, 0, op);
    } while (rc == -FI_EAGAIN);
    assert_int_equal(rc, 0);
}

void net_close(struct net *net)
{
    if (net->active != NULL)
        OK(fi_close(&net->active->fid));
    if (net->passive != NULL)
        OK(fi_close(&net->passive->fid));
    OK(fi_close(&net->pep->fid));
    if (net->mr != NULL)
        OK(fi_close(&net->mr->fid));
    OK(fi_close(&net->other_mr->fid));
    OK(fi_close(&net->cq->fid));
    OK(fi_close(&net->eq->fid));
    OK(fi_close(&net->domain->fid));
    OK(fi_close(&net->fabric->fid));
    fi_freeinfo(net->info);
    free(net->mem);
    free(net->other_mem);
}

void net_find_provider(void)
{
    const char *top = getenv("top_builddir");
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/tests/provider/.libs",
             top != NULL ? top : ".");
    setenv("FI_PROVIDER_PATH", path, 0);
    setenv("STRICT_EAGAIN", "0", 1);
    unsetenv("STRICT_SEED");
}
