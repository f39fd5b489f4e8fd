/* Tells the user which processes of the run's own job still run, and what they
 * are doing: once the nodes have said so, or have had two seconds for it. */
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
    /* nothing is told when it is ending */
    const struct job_session *session;
};

/* Returns 0 or OV_ENOMEM. */
int ep_run_rest_open(const struct run_rest_cfg *cfg, struct run_rest **out);
void ep_run_rest_close(struct run_rest *rest); /* NULL is fine */

/* What to tell, and what to do then. */
struct run_rest_words {
    const char *rest; /* as "still running at the timeout", before the ranks */
    const char *none; /* all processes have ended meanwhile; NULL: nothing */
    void (*then)(void *arg); /* NULL: nothing */
    void *arg;
};

/* Asks the nodes by way of the orders, and then tells. A later call replaces
 * the words of one that waits, but not what is to be done then. */
void ep_run_rest_tell(struct run_rest *rest, struct run_orders *orders,
                      const struct run_rest_words *words);
/* Notes that all nodes have said what the processes of the job are doing. */
void ep_run_rest_heard(struct run_rest *rest);

#endif
