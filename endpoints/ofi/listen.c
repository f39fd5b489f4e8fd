/* The listener, and the requests for links that come to it. */
#include "endpoints/ofi/listen.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/ofi/address.h"
#include "endpoints/ofi/cm.h"
#include "endpoints/ofi/conn.h"
#include "endpoints/ofi/error.h"
#include "endpoints/ofi/state.h"
#include "endpoints/ofi/stray.h"
#include "endpoints/ofi/wake.h"
#include "endpoints/sys/clock.h"

/* Listens on one port; 0: on any. Returns a code of libfabric. */
static int listen_on(struct ep_transport *t, uint16_t port)
{
    union ep_sockaddr *src = t->info->src_addr;
    int rc;

    ep_addr_set_port(src, port);
    rc = fi_passive_ep(t->fabric, t->info, &t->pep, t);
    ep_addr_set_port(src, 0);
    if (rc) {
        t->pep = NULL;
        return rc;
    }
    rc = fi_pep_bind(t->pep, &t->eq.fid->fid, 0);
    if (rc == 0)
        rc = fi_listen(t->pep);
    if (rc) {
        fi_close(&t->pep->fid);
        t->pep = NULL;
    }
    return rc;
}

static int explain(const struct ep_transport *t, int rc, char *why)
{
    char host[EP_ADDR_MAX];

    ep_addr_format_host(&t->addr, host);
    if (rc == -FI_EADDRINUSE && t->cfg.port_last > 0) {
        ep_why(why,
               "no free port in the range %u-%u on %.46s: name a wider one "
               "(--port-range)",
               t->cfg.port_first, t->cfg.port_last, host);
        return OV_EINVAL;
    }
    if (rc == -FI_EACCES) {
        ep_why(why,
               "ports %u-%u on %.46s are not for ordinary users: name ports "
               "above 1023 (--port-range)",
               t->cfg.port_first, t->cfg.port_last, host);
        return OV_EINVAL;
    }
    ep_why(why, "provider %.40s cannot listen on %.46s: %.80s", t->provider,
           host, fi_strerror(-rc));
    return ep_err_from_fi(rc);
}

int ep_listen_open(struct ep_transport *t, char *why)
{
    size_t len_bytes = sizeof(t->addr);
    unsigned port = t->cfg.port_first;
    int rc;

    do
        rc = listen_on(t, (uint16_t)port);
    while (rc == -FI_EADDRINUSE && port++ < t->cfg.port_last);
    if (rc == 0)
        rc = fi_getname(&t->pep->fid, &t->addr, &len_bytes);
    if (rc) {
        if (t->pep)
            fi_close(&t->pep->fid);
        t->pep = NULL;
        return explain(t, rc, why);
    }
    ep_addr_format(&t->addr, t->address);
    return 0;
}

static void request_refuse(struct ep_request *req, const uint8_t *cm,
                           size_t len_bytes)
{
    struct ep_transport *t = req->t;
    uint8_t wire[EP_CM_WIRE_MAX];

    if (req->info == NULL)
        return;
    if (len_bytes > EP_CM_MAX)
        len_bytes = 0;
    (void)fi_reject(t->pep, req->info->handle, wire,
                    ep_cm_encode(wire, cm, len_bytes));
    fi_freeinfo(req->info);
    req->info = NULL;
    t->stats.rejected++;
    ep_wake_disarm_eq(t);
}

static void request_free(struct ep_request *req)
{
    TAILQ_REMOVE(&req->t->requests, req, link);
    fi_freeinfo(req->info);
    free(req);
}

void ep_listen_on_request(struct ep_transport *t, struct fi_info *info,
                          const uint8_t *wire, size_t len_bytes)
{
    struct ep_request *req = calloc(1, sizeof(*req));
    const uint8_t *cm = NULL;
    size_t cm_bytes = 0;

    if (req == NULL) {
        uint8_t none[EP_CM_WIRE_MAX];

        (void)fi_reject(t->pep, info->handle, none,
                        ep_cm_encode(none, NULL, 0));
        fi_freeinfo(info);
        return;
    }
    req->t = t;
    req->info = info;
    req->since_ms = ep_clock_ms();
    TAILQ_INSERT_TAIL(&t->requests, req, link);
    if (t->is_closing || !ep_cm_decode(wire, len_bytes, &cm, &cm_bytes)) {
        ep_request_reject(req, NULL, 0);
        return;
    }
    ep_wake_sweep_in(t, t->cfg.unproved_ms);
    t->reported++;
    t->cfg.events->on_request(t->cfg.arg, req, cm, cm_bytes);
}

bool ep_listen_sweep(struct ep_transport *t, int64_t now_ms)
{
    struct ep_request *req;
    bool is_more = false;

    TAILQ_FOREACH (req, &t->requests, link) {
        if (req->info && now_ms - req->since_ms >= t->cfg.unproved_ms)
            request_refuse(req, NULL, 0);
        is_more = is_more || req->info;
    }
    return is_more;
}

void ep_request_reject(struct ep_request *req, const uint8_t *cm,
                       size_t len_bytes)
{
    request_refuse(req, cm, len_bytes);
    request_free(req);
}

static void remember_peer(struct ep_conn *conn, const struct fi_info *info)
{
    size_t len_bytes = sizeof(conn->peer);

    conn->is_accepted = true;
    conn->t->full += !conn->is_surplus;
    if (info->dest_addr && info->dest_addrlen <= sizeof(conn->peer))
        memcpy(&conn->peer, info->dest_addr, info->dest_addrlen);
    else
        (void)fi_getpeer(conn->ep, &conn->peer, &len_bytes);
}

int ep_request_accept(struct ep_request *req, const uint8_t *cm,
                      size_t len_bytes, void *user, struct ep_conn **out)
{
    struct ep_transport *t = req->t;
    uint8_t wire[EP_CM_WIRE_MAX];
    struct ep_conn *conn;
    bool has_ep;
    int rc;

    if (len_bytes > EP_CM_MAX)
        return OV_EINVAL;
    if (req->info == NULL) {
        request_free(req);
        return OV_ECLOSED;
    }
    rc = ep_conn_new(t, req->info, EP_CONN_ACCEPTING, user, &conn, &has_ep);
    if (rc) {
        if (!has_ep)
            request_refuse(req, NULL, 0);
        request_free(req);
        return rc;
    }
    remember_peer(conn, req->info);
    conn->guess_fd = ep_stray_release(t, &conn->peer);
    if (fi_accept(conn->ep, wire, ep_cm_encode(wire, cm, len_bytes)))
        ep_conn_lose(conn, EP_DOWN_ERROR);
    request_free(req);
    ep_wake_sweep_in(t, t->cfg.unproved_ms);
    ep_wake_disarm_eq(t);
    *out = conn;
    return 0;
}

void ep_listen_close(struct ep_transport *t)
{
    struct ep_request *req;

    while ((req = TAILQ_FIRST(&t->requests)) != NULL)
        ep_request_reject(req, NULL, 0);
    if (t->pep)
        fi_close(&t->pep->fid);
    t->pep = NULL;
}
