/* Completion queues, each for a number of links. */
#include "endpoints/ofi/cq.h"

#include <stdlib.h>

#include "endpoints/ofi/error.h"
#include "endpoints/ofi/wake.h"

enum { LINKS_MAX = 64 /* tcp 1.17 walks all links of a queue it reads */ };

static void on_cq_ready(evutil_socket_t fd, short what, void *arg)
{
    struct ep_cq *cq = arg;

    (void)fd;
    (void)what;
    cq->is_armed = false;
    cq->t->wake.is_pushed = false;
    cq->t->pass(cq->t);
}

void ep_cq_disarm(struct ep_cq *cq)
{
    cq->is_armed = false;
    ep_wake_kick(cq->t);
}

static void cq_close(struct ep_cq *cq)
{
    TAILQ_REMOVE(&cq->t->cqs, cq, link);
    if (cq->ready)
        event_free(cq->ready);
    fi_close(&cq->fid->fid);
    free(cq);
}

static int cq_open(struct ep_transport *t, struct ep_cq **out)
{
    size_t per_link = t->info->tx_attr->size + t->info->rx_attr->size;
    struct fi_cq_attr attr = {
        .size = per_link * LINKS_MAX,
        .format = FI_CQ_FORMAT_MSG,
        .wait_obj = FI_WAIT_FD,
    };
    struct ep_cq *cq = calloc(1, sizeof(*cq));
    int rc;

    if (cq == NULL)
        return OV_ENOMEM;
    cq->t = t;
    TAILQ_INIT(&cq->closed);
    rc = fi_cq_open(t->domain, &attr, &cq->fid, cq);
    if (rc) {
        free(cq);
        return ep_err_from_fi(rc);
    }
    TAILQ_INSERT_TAIL(&t->cqs, cq, link);
    cq->ready = ep_wake_on(t, &cq->fid->fid, on_cq_ready, cq);
    if (cq->ready == NULL) {
        cq_close(cq);
        return OV_EFABRIC;
    }
    *out = cq;
    return 0;
}

int ep_cq_find(struct ep_transport *t, struct ep_cq **out)
{
    struct ep_cq *cq;

    TAILQ_FOREACH (cq, &t->cqs, link)
        if (cq->links < LINKS_MAX) {
            *out = cq;
            return 0;
        }
    return cq_open(t, out);
}

void ep_cq_close_idle(struct ep_transport *t)
{
    struct ep_cq *cq, *next;

    for (cq = TAILQ_FIRST(&t->cqs); cq; cq = next) {
        next = TAILQ_NEXT(cq, link);
        if (cq->links == 0 && TAILQ_EMPTY(&cq->closed) &&
            cq != TAILQ_FIRST(&t->cqs))
            cq_close(cq);
    }
}

void ep_cq_close_all(struct ep_transport *t)
{
    struct ep_cq *cq;

    while ((cq = TAILQ_FIRST(&t->cqs)) != NULL)
        cq_close(cq);
}
