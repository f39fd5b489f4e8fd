/* Two endpoints in one process, connected through the provider strict.
 *
 * Every error fails an assertion, which ends the test or the forked child.
 */
#ifndef TESTS_UNIT_STRICT_NET_H
#define TESTS_UNIT_STRICT_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

enum {
    NET_MEM_BYTES = 65536, /* the memory, which is registered as two regions */
    NET_CM_BYTES = 256,
    NET_DEPTH = 8,
    NET_CQ = 32
};

/* An operation; the context memory comes first. */
struct net_op {
    struct fi_context2 context;
    bool is_done;
    int err;
    size_t len_bytes;
};

struct net {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_eq *eq;
    struct fid_cq *cq;
    struct fid_pep *pep;
    struct fid_ep *active, *passive;
    struct fid_mr *mr, *other_mr;
    uint8_t *mem, *other_mem;
    void *desc, *other_desc;
    struct fi_info
        *request;       /* a request (FI_CONNREQ) that is not answered yet */
    unsigned connected; /* how many connected events came, on either side */
    unsigned shut;
    int err; /* the error of the last error event */
    uint8_t cm[NET_CM_BYTES];
    size_t cm_len_bytes; /* private data that came with the last event */
};

/* To be called first in main(): finds the provider in the build tree (a path in
 * the user's environment comes first), and switches random errors off until a
 * test wants them. */
void net_find_provider(void);
struct fi_info *net_hints(void);
/* Opens everything up to a listener that waits for connections. cq_size 0:
 * NET_CQ. */
void net_open(struct net *net, size_t cq_size);
/* Dials with cm_len_bytes of private data; does not wait. */
void net_dial(struct net *net, size_t cm_len_bytes);
/* Opens the passive endpoint for the request. */
void net_take(struct net *net);
/* Connects both ends, and posts `receives` receives on the passive one, with
 * contexts from ops. */
void net_join(struct net *net, struct net_op *ops, unsigned receives);
void net_close(struct net *net);

/* These functions post an operation, and try again until the provider takes
 * it. */
void net_recv(struct net *net, struct fid_ep *ep, struct net_op *op,
              size_t off_bytes, size_t len_bytes);
void net_send(struct net *net, struct fid_ep *ep, struct net_op *op,
              size_t off_bytes, size_t len_bytes);

/* Reads the events that have come; waits for one first when none has. */
void net_pump(struct net *net);

#endif
