/* The jobs of a daemon, from the receipt of their text to their end. */
#include <stdio.h>
#include <stdlib.h>

#include "endpoints/daemon/impl.h"
#include "endpoints/hub/crowd.h"
#include "endpoints/hub/need.h"
#include "endpoints/sys/room.h"
#include "endpoints/sys/usage.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

/* --- the end
 * */

bool ep_daemon_on_idle(void *arg, struct job_usage *usage)
{
    struct daemon *d = arg;
    struct job_usage now = {.daemons = 1};
    struct ep_hub_stats stats;

    if (++d->jobs.idle_nodes < d->nodes_count)
        return false;
    ep_hub_stats(d->hub, &stats);
    now.cpu_us = ep_usage_cpu_us();
    now.refused_peers = stats.refused_peers;
    now.frames_up = stats.frames_up;
    now.frames_down = stats.frames_down;
    now.lines_in_pieces = ep_tails_cuts(d->tails);
    *usage = (struct job_usage){
        .rss_peak_bytes = ep_usage_rss_peak_bytes(),
        .cpu_us = now.cpu_us - d->jobs.used.cpu_us,
        .refused_peers = now.refused_peers - d->jobs.used.refused_peers,
        .frames_up = now.frames_up - d->jobs.used.frames_up,
        .frames_down = now.frames_down - d->jobs.used.frames_down,
        .daemons = now.daemons - d->jobs.used.daemons,
        .lines_in_pieces = now.lines_in_pieces - d->jobs.used.lines_in_pieces,
    };
    d->jobs.used = now;
    return true;
}

static void free_job(struct daemon_job *job)
{
    ep_binding_close(&job->binding);
    job_fini(&job->job);
    free(job);
}

/* Frees all memory of a job that is over, except the spawner's copy of its
 * programs, which the next job in this slot replaces. */
static void reap_job(struct daemon *d, uint32_t slot)
{
    struct daemon_job *job = d->jobs.here[slot];
    bool is_over = true;

    for (uint32_t i = 0; i < d->nodes_count; i++) {
        bool is_told = d->nodes[i].jobs > job->nth;

        if (is_told ? !ep_processes_reap(d->nodes[i].local, &job->job)
                    : !d->nodes[i].has_left)
            is_over = false;
    }
    if (!is_over)
        return;
    free_job(job);
    d->jobs.here[slot] = NULL;
}

static void on_reap(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;

    (void)fd;
    (void)what;
    for (uint32_t slot = 0; slot < DAEMON_JOBS_MAX; slot++) {
        if (d->jobs.here[slot] != NULL)
            reap_job(d, slot);
    }
}

void ep_daemon_on_over(void *arg)
{
    static const struct timeval now = {0, 0};
    struct daemon *d = arg;

    if (!evtimer_pending(d->jobs.reap, NULL))
        evtimer_add(d->jobs.reap, &now);
}

int ep_daemon_jobs_open(struct daemon *d)
{
    d->jobs.reap = evtimer_new(d->base, on_reap, d);
    return d->jobs.reap == NULL ? OV_ENOMEM : 0;
}

void ep_daemon_jobs_close(struct daemon *d)
{
    for (uint32_t slot = 0; slot < DAEMON_JOBS_MAX; slot++) {
        if (d->jobs.here[slot] != NULL)
            free_job(d->jobs.here[slot]);
        d->jobs.here[slot] = NULL;
    }
    if (d->jobs.reap != NULL)
        event_free(d->jobs.reap);
    d->jobs.reap = NULL;
}

/* --- the beginning
 * */

/* Returns the spawner's number for the first program of a job. */
static uint32_t program_of(uint32_t slot)
{
    return slot * JOB_APPS_MAX;
}

/* Returns the manners of the job's processes. Virtual nodes share a machine:
 * where the job has more processes than the machine has processors, the
 * processes get a lower priority than the daemons. */
static struct job_manners manners_of(const struct daemon *d,
                                     const struct job *job)
{
    struct job_manners manners = job->manners;

    if (d->config.is_virtual && job->size > EP_CROWD_EASY)
        manners.nice = ep_crowd_of(job->size, ep_room_processors()).nice;
    return manners;
}

/* Makes each program known to the spawner, as a job of the spawner. */
static int announce(struct daemon *d, const struct job *job, uint32_t slot)
{
    struct job_manners manners = manners_of(d, job);
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < job->apps_count; i++) {
        const char **env = job_app_env(job, i);
        struct ep_spawn_job what = {
            .program = job_app_program(&job->apps[i]),
            .env = env,
            .manners = manners,
        };

        rc = env == NULL
                 ? OV_ENOMEM
                 : ep_spawner_job(d->spawner, program_of(slot) + i, &what);
        free(env);
    }
    return rc;
}

static uint32_t find_slot(const struct daemon *d, uint32_t nth)
{
    uint32_t slot = 0;

    while (slot < DAEMON_JOBS_MAX &&
           (d->jobs.here[slot] == NULL || d->jobs.here[slot]->nth != nth))
        slot++;
    return slot;
}

static uint32_t free_slot(const struct daemon *d)
{
    uint32_t slot = 0;

    while (slot < DAEMON_JOBS_MAX && d->jobs.here[slot] != NULL)
        slot++;
    return slot;
}

/* Checks that this host has room for the processes of the run's own job; for
 * virtual nodes the launcher has checked that. Returns 0, or OV_EFULL with a
 * text. */
static int check_room(const struct daemon *d, const struct job *job, char *why)
{
    struct ep_need_plan plan = {.files = d->config.nofile};
    struct ep_need need;
    struct ep_room room;

    if (d->config.is_virtual || job->base != 0)
        return 0;
    for (uint32_t i = 0; i < d->nodes_count; i++)
        plan.procs += job_on_node(job, d->numbers[i]);
    need = ep_need_of(&plan);
    ep_room_read(&room);
    return ep_need_check(&need, &room, why);
}

/* Makes a job of a complete text. The first node that has the whole text calls
 * this for the daemon. Returns 0, or an error with a text in why. */
static int take_job(struct daemon *d, struct text_buf *text, uint32_t *slot,
                    char *why)
{
    struct daemon_job *job = calloc(1, sizeof(*job));
    int rc = OV_ENOMEM;

    *slot = free_slot(d);
    if (*slot == DAEMON_JOBS_MAX)
        rc = OV_EFULL;
    else if (job != NULL)
        rc = job_decode(text->at, text->len_bytes, &job->job);
    if (rc == 0)
        rc = announce(d, &job->job, *slot);
    snprintf(why, TOPO_WHY_MAX, "%s",
             rc == OV_EPROTO ? "the job's description cannot be read"
                             : ov_strerror(rc));
    if (rc == 0)
        rc = check_room(d, &job->job, why);
    if (rc == 0)
        rc = ep_binding_open(&job->binding, &job->job, why);
    if (rc != 0) {
        if (job != NULL)
            free_job(job);
        return rc;
    }
    job->nth = d->jobs.told++;
    d->jobs.here[*slot] = job;
    return 0;
}

static int begin_job(struct daemon *d, uint32_t index, uint32_t slot)
{
    struct daemon_node *node = &d->nodes[index];
    struct daemon_job *job = d->jobs.here[slot];
    bool was_idle = ep_processes_is_idle(node->local);
    int rc;

    if (was_idle && job_on_node(&job->job, d->numbers[index]) > 0)
        d->jobs.idle_nodes--;
    node->jobs++;
    rc = ep_processes_begin(node->local, &job->job, &job->binding,
                            program_of(slot));
    if (job->job.watch.ms > 0)
        ep_looks_watch(d->looks);
    /* the job may have no process on this node, so it may be over */
    ep_daemon_on_over(d);
    return rc;
}

void ep_daemon_job(struct daemon *d, uint32_t index,
                   const struct ov_control *control)
{
    struct daemon_node *node = &d->nodes[index];
    size_t len_bytes = ov_rd_left(&control->body);
    char why[TOPO_WHY_MAX];
    uint32_t slot;
    int rc = 0;

    text_buf_add(&node->job_text, (const char *)control->body.at, len_bytes);
    if (node->job_text.bad || node->job_text.len_bytes > JOB_BYTES_MAX) {
        ep_daemon_error(d, "the job's description is too large");
        ep_daemon_stop(d, DAEMON_FAILS);
        return;
    }
    if (control->more)
        return;
    if (node->jobs == d->jobs.told)
        rc = take_job(d, &node->job_text, &slot, why);
    else
        slot = find_slot(d, node->jobs);
    OV_ASSERT(rc != 0 || slot < DAEMON_JOBS_MAX);
    text_buf_fini(&node->job_text);
    if (rc == 0) {
        snprintf(why, sizeof(why), "%s", ov_strerror(OV_ENOMEM));
        rc = begin_job(d, index, slot);
    }
    if (rc != 0) {
        ep_daemon_error(d, why);
        ep_daemon_stop(d, DAEMON_FAILS);
    }
}
