/* The states of a link. */
#include "endpoints/ofi/state.h"

#include "endpoints/ofi/cq.h"
#include "endpoints/ofi/wake.h"
#include "endpoints/sys/clock.h"

#define TO(state) (1u << EP_CONN_##state)

static const uint32_t legal_next[EP_CONN_STATES] = {
    [EP_CONN_DIALING] = TO(UP) | TO(LOST) | TO(DEAD),
    [EP_CONN_ACCEPTING] = TO(UP) | TO(LOST) | TO(FLUSHING) | TO(DEAD),
    [EP_CONN_UP] = TO(FAILING) | TO(LOST) | TO(FLUSHING) | TO(DEAD),
    [EP_CONN_FAILING] = TO(LOST) | TO(DEAD),
    [EP_CONN_LOST] = TO(DEAD),
    [EP_CONN_FLUSHING] = TO(DEAD),
    [EP_CONN_DEAD] = TO(CLOSED),
};

void ep_conn_move(struct ep_conn *conn, enum ep_conn_state next)
{
    struct ep_transport *t = conn->t;

    OV_ASSERT(legal_next[conn->state] & (1u << next));
    t->lost -= conn->state == EP_CONN_LOST;
    t->flushing -= conn->state == EP_CONN_FLUSHING;
    conn->state = (uint8_t)next;
    conn->since_ms = ep_clock_ms();
    t->lost += next == EP_CONN_LOST;
    t->flushing += next == EP_CONN_FLUSHING;
}

void ep_conn_touch(struct ep_conn *conn)
{
    if (conn->is_touched)
        return;
    conn->is_touched = true;
    TAILQ_INSERT_TAIL(&conn->t->touched, conn, touched);
}

void ep_conn_kill(struct ep_conn *conn)
{
    ep_conn_move(conn, EP_CONN_DEAD);
    TAILQ_REMOVE(&conn->t->conns, conn, link);
    TAILQ_INSERT_TAIL(&conn->t->dead, conn, link);
    ep_wake_kick(conn->t);
}

void ep_conn_lose(struct ep_conn *conn, enum ep_down_why why)
{
    switch ((enum ep_conn_state)conn->state) {
    case EP_CONN_DIALING:
    case EP_CONN_ACCEPTING:
    case EP_CONN_UP:
    case EP_CONN_FAILING:
        ep_conn_move(conn, EP_CONN_LOST);
        conn->why = (uint8_t)why;
        ep_cq_disarm(conn->cq);
        return;
    case EP_CONN_FLUSHING:
        ep_conn_kill(conn);
        return;
    case EP_CONN_LOST:
    case EP_CONN_DEAD:
    case EP_CONN_CLOSED:
    case EP_CONN_STATES:
        return;
    }
}

void ep_conn_fail(struct ep_conn *conn)
{
    if (conn->state == EP_CONN_UP) {
        ep_conn_move(conn, EP_CONN_FAILING);
        ep_wake_sweep_in(conn->t, EP_LOSS_WAIT_MS);
        ep_wake_disarm_eq(conn->t);
    } else if (conn->state != EP_CONN_FAILING) {
        ep_conn_lose(conn, EP_DOWN_ERROR);
    }
}
