/* strict: a libfabric provider for tests that is as severe as verbs.
 *
 * It stands between a program and libfabric's tcp provider, carries every call
 * down, and ends the process with `strict: RULE: details` when the program
 * does what tcp forgives and a network card does not. Each object of the
 * program has one of the structures below, with the core's object in `core`.
 *
 * Rules: MR (descriptor, bounds, access, lifetime), CM (private data), INJECT,
 * IOV, CQ (overrun), CONTEXT and BUFFER (memory of an operation in flight was
 * changed), STATE, CONNREQ, ADDRESS, BIND, CLOSE, FORK. Depth exceeded and
 * chance (STRICT_SEED, STRICT_EAGAIN percent) give -FI_EAGAIN. Notes that are
 * not violations (RNR) go to the file STRICT_REPORT, else to stderr. One thread
 * at a time: only FI_THREAD_DOMAIN is offered.
 */
#ifndef TESTS_PROVIDER_STRICT_H
#define TESTS_PROVIDER_STRICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>

#ifndef container_of /* rdma/fabric.h defines it in versions up to 1.22 */
#define container_of(ptr, type, field)                                         \
    ((type *)((char *)(ptr)-offsetof(type, field)))
#endif

#define STRICT_NAME "strict"
#define STRICT_CORE "tcp"

enum {
    STRICT_CM_MAX = 55,        /* the most bytes of private data */
    STRICT_INJECT_MAX = 64,    /* the most bytes of one injected message */
    STRICT_IOV_MAX = 3,        /* the most parts of one message */
    STRICT_DEPTH_DEFAULT = 32, /* the depth when the hints name none */
    STRICT_CQ_DEFAULT = 128,
    STRICT_POISON = 0xA5, /* fills a receive buffer when it is posted */
    STRICT_SLOTS = 256
};
#define STRICT_MR_MODE                                                         \
    (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

struct strict_op; /* defined in op.h */
/* Objects found by a number: a descriptor, or a pointer of the core. */
struct strict_link {
    struct strict_link *next;
    uintptr_t key;
    void *value; /* borrowed */
};

struct strict_set {
    struct strict_link *slots[STRICT_SLOTS];
};

struct strict_fabric {
    struct fid_fabric fid;
    struct fid_fabric *core;
    unsigned children; /* open domains, queues and passive endpoints */
};

struct strict_domain {
    struct fid_domain fid;
    struct fid_domain *core;
    struct strict_fabric *fabric;
    struct strict_set mrs; /* registered memory, by descriptor */
    unsigned children;
    unsigned eagain_percent;
    uint64_t chance; /* state of the random generator */
    pid_t pid;
};

struct strict_mr {
    struct fid_mr fid;
    struct fid_mr *core;
    struct strict_domain *domain;
    struct strict_link by_desc;
    uintptr_t first; /* address of the first byte */
    size_t len_bytes;
    uint64_t access;
    unsigned in_use; /* how many operations are in flight */
};

struct strict_eq {
    struct fid_eq fid;
    struct fid_eq *core;
    struct strict_fabric *fabric;
    struct strict_set fids; /* the endpoints, by the core's fid */
    unsigned children;
};

struct strict_cq {
    struct fid_cq fid;
    struct fid_cq *core;
    struct strict_domain *domain;
    struct strict_op *orphans; /* operations of closed endpoints */
    size_t entry_bytes;
    size_t size;
    size_t in_flight; /* operations whose completion was not read yet */
    uint64_t reads;
    char *ahead; /* owned: entries read from the core, not by the program */
    size_t ahead_first, ahead_end; /* the first entry of `ahead`, and the end */
    unsigned children;
};

struct strict_connreq {
    struct fid fid;
    fid_t core;
    struct strict_connreq *next;
    struct strict_pep *pep;
    bool taken; /* an endpoint was opened from this request */
};

struct strict_pep {
    struct fid_pep fid;
    struct fid_pep *core;
    struct strict_fabric *fabric;
    struct strict_eq *eq;
    struct strict_link by_core;
    struct fi_info *info; /* owned */
    struct strict_connreq
        *connreqs; /* requests that were neither accepted nor rejected */
};

enum strict_state { STRICT_IDLE, STRICT_CONNECTING, STRICT_UP, STRICT_DOWN };

struct strict_ep {
    struct fid_ep fid;
    struct fid_ep *core;
    struct strict_domain *domain;
    struct strict_eq *eq;
    struct strict_cq *tx_cq, *rx_cq;
    struct strict_link by_core;
    struct strict_connreq *connreq;
    struct strict_op *ops; /* operations in flight */
    enum strict_state state;
    bool is_enabled;
    bool is_dry; /* the endpoint is up with no receive posted */
    unsigned context_words;
    size_t tx_depth, rx_depth;
    size_t tx_posted, rx_posted;
    uint64_t dry_since; /* reads of rx_cq when the last receive was used */
    uint64_t starved;   /* frames that had to wait for a receive */
};

/* Reports (report.c). A violation ends the process. */
#define STRICT_PRINTF __attribute__((format(printf, 2, 3)))
STRICT_PRINTF
_Noreturn void strict_abort(const char *rule, const char *format, ...);
STRICT_PRINTF
void strict_note(const char *rule, const char *format, ...);
void strict_need_closed(const char *what, unsigned children);

/* defined in set.c */
void strict_set_add(struct strict_set *set, struct strict_link *link,
                    const void *key, void *value);
void strict_set_del(struct strict_set *set, struct strict_link *link);
void *strict_set_find(const struct strict_set *set, const void *key);

/* Functions of info.c. strict_info_core() returns a new info, or NULL. */
int strict_getinfo(uint32_t version, const char *node, const char *service,
                   uint64_t flags, const struct fi_info *hints,
                   struct fi_info **out);
struct fi_info *strict_info_core(const struct fi_info *info);

/* defined in domain.c */
int strict_domain_open(struct fid_fabric *fabric, struct fi_info *info,
                       struct fid_domain **out, void *context);
struct strict_mr *strict_mr_find(const struct strict_domain *domain,
                                 const void *desc);
bool strict_domain_chance(struct strict_domain *domain);

/* defined in cq.c and eq.c */
int strict_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
                   struct fid_cq **out, void *context);
int strict_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
                   struct fid_eq **out, void *context);

/* defined in pep.c */
int strict_pep_open(struct fid_fabric *fabric, struct fi_info *info,
                    struct fid_pep **out, void *context);
struct fi_info *strict_connreq_info(struct strict_pep *pep,
                                    struct fi_info *core);
void strict_connreq_free(struct strict_connreq *req);
void strict_cm_check(const char *call, size_t len_bytes);
int strict_opt_get(int level, int name, void *value, size_t *len_bytes);

/* defined in ep.c */
int strict_ep_open(struct fid_domain *domain, struct fi_info *info,
                   struct fid_ep **out, void *context);
void strict_ep_note_dry(struct strict_ep *ep);

#endif
