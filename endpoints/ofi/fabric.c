/* Opens and closes the libfabric transport; has the table of its functions. */
#include "endpoints/ofi/ofi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "endpoints/ofi/address.h"
#include "endpoints/ofi/conn.h"
#include "endpoints/ofi/cq.h"
#include "endpoints/ofi/error.h"
#include "endpoints/ofi/frames.h"
#include "endpoints/ofi/listen.h"
#include "endpoints/ofi/poll.h"
#include "endpoints/ofi/provider.h"
#include "endpoints/ofi/slab.h"
#include "endpoints/ofi/sockets.h"
#include "endpoints/ofi/state.h"
#include "endpoints/ofi/wake.h"
#include "endpoints/sys/clock.h"

enum { UNPROVED_MS = 5000, CLOSE_FLUSH_MS = 1000 };

static int check_cfg(const struct ep_transport_cfg *cfg, char *why)
{
    bool is_range_ok = cfg->port_first <= cfg->port_last &&
                       (cfg->port_first > 0 || cfg->port_last == 0);

    if (!is_range_ok) {
        ep_why(why,
               "bad port range %u-%u: give two ports from 1 to 65535, "
               "the lower one first",
               cfg->port_first, cfg->port_last);
        return OV_EINVAL;
    }
    if (!cfg->base || !cfg->events || cfg->frame_bytes == 0 ||
        cfg->posted_receives < 2 || cfg->send_slots == 0) {
        ep_why(why, "the transport needs an event base, frames of at least a "
                    "byte, two receives and one send");
        return OV_EINVAL;
    }
    return 0;
}

static int open_objects(struct ep_transport *t, char *why)
{
    struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_FD};
    const char *what = "fabric";
    int rc;

    rc = fi_fabric(t->info->fabric_attr, &t->fabric, NULL);
    if (rc)
        goto fail;
    what = "domain";
    rc = fi_domain(t->fabric, t->info, &t->domain, NULL);
    if (rc)
        goto fail;
    what = "event queue";
    rc = fi_eq_open(t->fabric, &eq_attr, &t->eq.fid, NULL);
    if (rc)
        goto fail;
    return 0;

fail:
    ep_why(why, "provider %s cannot open its %s: %s", t->provider, what,
           fi_strerror(-rc));
    return ep_err_from_fi(rc);
}

static void close_objects(struct ep_transport *t)
{
    ep_listen_close(t);
    ep_slab_close(t);
    ep_poll_close(t);
    if (t->eq.fid)
        fi_close(&t->eq.fid->fid);
    if (t->domain)
        fi_close(&t->domain->fid);
    if (t->fabric)
        fi_close(&t->fabric->fid);
    fi_freeinfo(t->info);
    ep_sock_close(t);
    free(t->strays.notes);
    free(t);
}

static int transport_open(const struct ep_transport_cfg *cfg,
                          struct ep_transport **out, char *why)
{
    struct ep_transport *t;
    int rc = check_cfg(cfg, why);

    if (rc)
        return rc;
    ep_why(why, "not enough memory to open the network");
    t = calloc(1, sizeof(*t));
    if (t == NULL)
        return OV_ENOMEM;
    t->cfg = *cfg;
    if (t->cfg.unproved_ms == 0)
        t->cfg.unproved_ms = UNPROVED_MS;
    t->listen_fd = -1;
    /* Before 1.17 a failed send ends the link and loses everything that is
     * still to be read: so as little as possible should be unread before we
     * send. */
    t->has_short_reads = FI_VERSION_GE(fi_version(), FI_VERSION(1, 17));
    TAILQ_INIT(&t->cqs);
    TAILQ_INIT(&t->conns);
    TAILQ_INIT(&t->dead);
    TAILQ_INIT(&t->touched);
    TAILQ_INIT(&t->requests);
    rc = ep_addr_pick(cfg->interface, cfg->is_local, &t->addr, why);
    if (rc == 0)
        rc = ep_provider_choose(cfg, &t->addr, &t->info, why);
    if (rc)
        goto fail;
    snprintf(t->provider, sizeof(t->provider), "%s",
             t->info->fabric_attr->prov_name);
    t->is_pinned = t->info->domain_attr->mr_mode != 0;
    rc = open_objects(t, why);
    if (rc == 0)
        rc = ep_listen_open(t, why);
    if (rc)
        goto fail;
    ep_sock_open(t);
    rc = ep_poll_open(t);
    if (rc) {
        ep_why(why, "provider %s cannot wait for events: %s", t->provider,
               ov_strerror(rc));
        ep_poll_drain(t);
        goto fail;
    }
    *out = t;
    return 0;

fail:
    close_objects(t);
    return rc;
}

/* Runs passes until `is_done` returns true, or for limit_ms. */
static void run_until(struct ep_transport *t,
                      bool (*is_done)(const struct ep_transport *t),
                      int64_t limit_ms)
{
    int64_t end_ms = ep_clock_ms() + limit_ms;
    struct timespec nap = {.tv_nsec = 1000000};

    while (!is_done(t) && ep_clock_ms() < end_ms) {
        struct ep_cq *cq;

        TAILQ_FOREACH (cq, &t->cqs, link)
            ep_cq_disarm(cq);
        ep_wake_disarm_eq(t);
        ep_poll_pass(t);
        ep_poll_sweep(t);
        if (!is_done(t))
            nanosleep(&nap, NULL);
    }
}

static bool has_flushed(const struct ep_transport *t)
{
    return t->flushing == 0;
}

static bool has_no_links(const struct ep_transport *t)
{
    const struct ep_cq *cq;

    if (!TAILQ_EMPTY(&t->conns) || !TAILQ_EMPTY(&t->dead))
        return false;
    TAILQ_FOREACH (cq, &t->cqs, link)
        if (!TAILQ_EMPTY(&cq->closed))
            return false;
    return true;
}

static void transport_close(struct ep_transport *t)
{
    struct ep_conn *conn, *next;

    OV_ASSERT(!t->is_in_pass);
    t->is_closing = true;
    for (conn = TAILQ_FIRST(&t->conns); conn; conn = next) {
        next = TAILQ_NEXT(conn, link);
        if (conn->state != EP_CONN_FLUSHING)
            ep_conn_kill(conn);
    }
    run_until(t, has_flushed, CLOSE_FLUSH_MS);
    while ((conn = TAILQ_FIRST(&t->conns)) != NULL)
        ep_conn_kill(conn);
    run_until(t, has_no_links, CLOSE_FLUSH_MS);
    ep_poll_drain(t);
    close_objects(t);
}

static const char *transport_provider(const struct ep_transport *t)
{
    return t->provider;
}

static const char *transport_address(const struct ep_transport *t)
{
    return t->address;
}

static void *transport_user(const struct ep_conn *conn)
{
    return conn->user;
}

static void transport_stats(const struct ep_transport *t,
                            struct ep_transport_stats *out)
{
    *out = t->stats;
    out->flushing = t->flushing;
}

const struct ep_transport_ops ep_transport_ofi_ops = {
    .open = transport_open,
    .close = transport_close,
    .provider = transport_provider,
    .address = transport_address,
    .dial = ep_conn_dial,
    .accept = ep_request_accept,
    .reject = ep_request_reject,
    .user = transport_user,
    .send = ep_frames_send,
    .drop = ep_conn_drop,
    .buf_get = ep_slab_get,
    .buf_put = ep_slab_put,
    .stats = transport_stats,
};
