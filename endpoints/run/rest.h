/* Tells the user which processes of the run's own job still run, and what they
 * are doing. The message comes when the nodes have answered that question, or
 * after two seconds. */
#ifndef ENDPOINTS_RUN_REST_H
#define ENDPOINTS_RUN_REST_H

struct event_base;
struct job_life;
struct job_session;
struct run_look;
struct run_orders;
struct run_plan;
struct run_rest;

struct run_rest_cfg {
    struct event_base *base; /* borrowed, like all pointers */
    const struct run_plan *plan;
    const struct job_life *life;
    struct run_look *look;
    /* no message is written when the session is ending */
    const struct job_session *session;
};

/* Returns 0 or OV_ENOMEM. */
int ep_run_rest_open(const struct run_rest_cfg *cfg, struct run_rest **out);
void ep_run_rest_close(struct run_rest *rest); /* NULL is fine */

/* The words of a message, and what to do after it. */
struct run_rest_words {
    const char *rest; /* for example "still running at the timeout", which comes
                       * before the ranks */
    const char *none; /* the message when all processes have ended meanwhile;
                       * NULL: no message */
    void (*then)(void *arg); /* called after the message; NULL: no call */
    void *arg;
};

/* Sends the question to the nodes, and writes the message later. A further call
 * replaces the words of a message that waits, but not its `then`. */
void ep_run_rest_tell(struct run_rest *rest, struct run_orders *orders,
                      const struct run_rest_words *words);
/* Notes that all nodes have reported what the processes of the job are
 * doing. */
void ep_run_rest_heard(struct run_rest *rest);

#endif
