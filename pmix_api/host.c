/* The launcher's side of PMIx: the helper's life, and what tools want. */
#include "pmix_api/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "pmix_api/host_back.h"
#include "pmix_api/host_impl.h"
#include "pmix_api/host_keep.h"
#include "pmix_api/host_salvage.h"
#include "pmix_api/rendezvous.h"
#include "pmix_api/wire.h"

enum {
    HOLD_MS = 1000,    /* records are held for a helper so long at most */
    QUIET_MS = 2000,   /* it is asked so long after its last answer */
    FIRST_MS = 1000,   /* at the latest, from the beginning */
    ANSWER_MS = 10000, /* one that does not answer is ended */
    UP_MS = 60000,     /* it may take so long to come up */
    PACKETS_MAX = 64,  /* read at a time */
};

/* --- it ends */

static void put_down(struct px_host *host)
{
    host->phase = PX_HOST_DOWN;
    if (host->reads != NULL)
        event_free(host->reads);
    if (host->writes != NULL)
        event_free(host->writes);
    host->reads = host->writes = NULL;
    if (host->fd >= 0)
        close(host->fd);
    host->fd = -1;
    px_share_close(&host->share);
    if (host->has_file)
        px_rendezvous_remove(px_rendezvous_path(), &host->file);
    host->has_file = false;
    if (host->folder[0] != '\0')
        px_folder_remove(host->folder);
    host->folder[0] = '\0';
    free(host->log);
    host->log = NULL;
    host->log_bytes = 0;
    px_pulls_clear(host);
    px_queue_clear(host);
    host->backs = host->taken_due = 0;
    host->cfg.events->on_back_over(host->cfg.arg);
    px_spawn_forget(host);
    px_jobs_reap(host);
}

/* --- what it says */

/* A tool that has started us waits for this file. */
static void put_file(struct px_host *host)
{
    const char *path = px_rendezvous_path();
    char from[PX_PATH_MAX + 600], here[256] = "", text[512];

    if (path == NULL)
        return;
    gethostname(here, sizeof(here) - 1);
    snprintf(from, sizeof(from), "%s/server/pmix.%s.tool.%s", host->folder,
             here, host->cfg.nspace);
    host->has_file = px_rendezvous_put(from, path, &host->file) == 0;
    if (host->has_file)
        return;
    snprintf(text, sizeof(text),
             "the rendezvous file %.300s cannot be written: %s", path,
             errno == EEXIST ? "there is one already" : strerror(errno));
    host->cfg.events->on_say(host->cfg.arg, text);
}

static void say_up(struct px_host *host, struct px_text uri)
{
    char text[PX_PATH_MAX + 512], address[PX_TEXT_BYTES_MAX + 1];

    host->is_up = host->was_up = true;
    host->is_failed = false;
    host->looks = host->looks > 0 ? 1 : 0; /* it had more time before */
    put_file(host);
    snprintf(text, sizeof(text), "PMIx tools can connect to %.*s, or by %s",
             (int)uri.len_bytes, uri.at, host->folder);
    host->cfg.events->on_note(host->cfg.arg, text);
    px_text_copy(uri, address, sizeof(address));
    host->cfg.events->on_up(host->cfg.arg, address);
}

/* Its pieces follow each other. */
static void on_log(struct px_host *host, const struct px_log *piece)
{
    struct px_log whole = *piece;

    if (host->log == NULL)
        host->log = malloc(PX_LOG_BYTES_MAX);
    if (host->log != NULL &&
        piece->text.len_bytes <= PX_LOG_BYTES_MAX - host->log_bytes) {
        memcpy(host->log + host->log_bytes, piece->text.at,
               piece->text.len_bytes);
        host->log_bytes += piece->text.len_bytes;
    }
    if (piece->is_more)
        return;
    whole.text = (struct px_text){host->log != NULL ? host->log : "",
                                  (uint16_t)host->log_bytes};
    host->log_bytes = 0;
    if (!host->cfg.events->on_log(host->cfg.arg, &whole) && piece->token != 0)
        px_host_done(host, piece->token, PX_ANSWER_FULL);
}

static void on_signal(struct px_host *host, const struct px_signal *signal)
{
    enum px_answer answer = host->cfg.events->on_signal(host->cfg.arg, signal);

    if (signal->token != 0)
        px_host_done(host, signal->token, answer);
}

static void on_wish(struct px_host *host, const struct px_msg *msg)
{
    if (msg->kind == PX_LOG)
        on_log(host, &msg->log);
    else if (msg->kind == PX_SIGNAL)
        on_signal(host, &msg->signal);
    else if (msg->kind == PX_SPAWN)
        px_spawn_heard(host, &msg->spawn);
    else
        px_spawn_hangup(host, msg->token);
}

static void on_tool(struct px_host *host)
{
    host->has_tools = true;
    px_queue_wake(host); /* it is asked from now on */
}

static void on_end(struct px_host *host, const struct px_end *end)
{
    px_spawn_unpull(host, end->id);
    if (!end->is_kept || !px_salvage_pull(host, end))
        px_pulls_ended(host, end);
}

static void on_pull(struct px_host *host, const struct px_msg *msg)
{
    if (msg->kind == PX_PULL)
        px_pulls_told(host, &msg->pull);
    else if (msg->kind == PX_END)
        on_end(host, &msg->end);
    else if (msg->kind == PX_STOP)
        px_back_stop(host, msg->id);
    else
        px_pulls_behind(host, msg->id);
}

static void on_pong(struct px_host *host)
{
    host->looks = 0;
    host->answered_ms = px_now_ms();
    host->is_deaf = false;
}

/* Before it is up it says why it will not be. */
static void on_note(struct px_host *host, struct px_text said)
{
    char text[PX_TEXT_BYTES_MAX + 1];

    px_text_copy(said, text, sizeof(text));
    host->cfg.events->on_note(host->cfg.arg, text);
    if (!host->is_up)
        snprintf(host->reason, sizeof(host->reason), "%.500s", text);
}

static void on_room(struct px_host *host)
{
    host->is_share_full = host->is_share_stuck = false;
    px_queue_soon(host);
}

static void on_msg(struct px_host *host, const struct px_msg *msg)
{
    switch (msg->kind) {
    case PX_UP:
        say_up(host, msg->text);
        return;
    case PX_PULL:
    case PX_END:
    case PX_BEHIND:
    case PX_STOP:
        on_pull(host, msg);
        return;
    case PX_TOOL:
        on_tool(host);
        return;
    case PX_QUIET:
        host->has_tools = false;
        return;
    case PX_NOTE:
        on_note(host, msg->text);
        return;
    case PX_FLUSHED:
        px_flush_done(host);
        return;
    case PX_PONG:
        on_pong(host);
        return;
    case PX_PUSHER:
    case PX_REST:
        px_push_hold(host, msg->kind == PX_PUSHER);
        return;
    case PX_ROOM:
        on_room(host);
        return;
    case PX_LOG:
    case PX_SIGNAL:
    case PX_SPAWN:
    case PX_HANGUP:
        on_wish(host, msg);
        return;
    case PX_PUSH: /* see heard() */
    case PX_OUTPUT:
    case PX_TAKEN:
    case PX_STDIN:
    case PX_GRANT:
    case PX_HELD:
    case PX_START:
    case PX_PART:
    case PX_EXIT:
    case PX_FLUSH:
    case PX_PING:
    case PX_PIDS:
    case PX_STAGE:
    case PX_DONE:
    case PX_LIVE:
    case PX_HEARD:
    case PX_BROKEN:
    case PX_JOB:
        return;
    }
}

/* One message that may make no sense to us. */
static int heard(struct px_host *host, const struct px_msg *msg)
{
    int rc = 0;

    if (msg->kind == PX_PUSH)
        rc = px_push_heard(host, &msg->push);
    else if (msg->kind == PX_OUTPUT)
        rc = px_back_heard(host, &msg->output);
    if (rc == 0)
        on_msg(host, msg);
    return rc;
}

/* One packet: 1, 0 when there is none, OV_ECLOSED, or OV_EPROTO. */
static int hear(struct px_host *host)
{
    uint8_t mem[PX_PACKET_BYTES_MAX];
    ssize_t got = recv(host->fd, mem, sizeof(mem), MSG_DONTWAIT);
    struct ov_rd rd;
    struct px_msg msg;

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (got <= 0)
        return OV_ECLOSED;
    rd = ov_rd_init(mem, (size_t)got);
    while (ov_rd_left(&rd) > 0) {
        if (px_msg_decode(&rd, &msg) != 0 || heard(host, &msg) != 0)
            return OV_EPROTO;
    }
    return 1;
}

/* What it has said before counts. */
static void drain(struct px_host *host)
{
    while (hear(host) == 1)
        ;
}

/* Its tools are cut off; the job does not notice. */
static void on_death(struct px_host *host, const char *why)
{
    char cause[PX_REASON_MAX + 64];
    int status = px_process_end(host->pid);
    uint64_t redirected;

    drain(host);
    px_revival_explain(host, status, cause, sizeof(cause));
    host->pid = -1;
    redirected = px_salvage_take(host);
    put_down(host);
    event_del(host->timer);
    px_revival_plan(host, why != NULL ? why : cause);
    px_revival_say_lost(host, redirected, "of redirected output");
    px_flush_done(host);
    px_push_hold(host, false); /* all its tools are gone */
    px_spawn_hangup(host, 0);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct px_host *host = arg;
    int rc = 1;

    (void)fd;
    (void)what;
    for (int i = 0; rc == 1 && i < PACKETS_MAX; i++)
        rc = hear(host);
    if (rc == OV_ECLOSED)
        on_death(host, NULL);
    else if (rc == OV_EPROTO)
        on_death(host, "is of another version, or confused");
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
    struct px_host *host = arg;

    (void)fd;
    (void)what;
    if (px_queue_pump(host) != 0)
        on_death(host, NULL);
    else
        px_queue_wake(host);
}

/* --- it begins */

/* Why, for the user; errno is that of the last call. */
static int fail(struct px_host *host, const char *what, const char *where)
{
    snprintf(host->reason, sizeof(host->reason), "%s %.300s: %s", what, where,
             strerror(errno));
    return OV_ESYS;
}

static int start(struct px_host *host)
{
    char *argv[] = {(char[]){"xylem-pmix"}, NULL};

    host->is_up = false;
    host->reason[0] = '\0';
    if (px_folder_name(host->cfg.mark, host->folder)) {
        host->folder[0] = '\0';
        return fail(host, "no folder can be made in", px_folder_top());
    }
    if (px_process_start(host->cfg.path, argv, &host->pid, &host->fd,
                         &host->share)) {
        host->pid = -1;
        return fail(host, "no process of", host->cfg.path);
    }
    host->reads = event_new(host->cfg.base, host->fd, EV_READ | EV_PERSIST,
                            on_readable, host);
    host->writes =
        event_new(host->cfg.base, host->fd, EV_WRITE, on_writable, host);
    if (host->reads == NULL || host->writes == NULL) {
        errno = ENOMEM;
        return fail(host, "no events for", host->cfg.path);
    }
    host->phase = PX_HOST_START;
    px_jobs_begin(host);
    host->has_tools = false;
    host->is_deaf = host->is_ping_due = false;
    host->is_share_full = host->is_share_stuck = false;
    host->is_flush_due = host->is_flush_sent = false;
    host->redirected_before = host->redirected_bytes;
    host->looks = 0;
    host->answered_ms = px_now_ms();
    host->held_looks = 0;
    px_push_begin(host);
    event_add(host->reads, NULL);
    px_queue_wake(host);
    return 0;
}

static void restart(struct px_host *host)
{
    char cause[PX_REASON_MAX + 64];

    host->starts++;
    if (start(host) == 0)
        return;
    snprintf(cause, sizeof(cause), "cannot be started: %s", host->reason);
    if (host->pid >= 0)
        px_process_end(host->pid);
    host->pid = -1;
    put_down(host);
    px_revival_plan(host, cause);
}

/* --- while something waits */

static void ask(struct px_host *host)
{
    if (host->looks != 0)
        return;
    host->looks = 1;
    host->is_ping_due = true;
}

static void say_deaf(struct px_host *host)
{
    char text[128];

    snprintf(text, sizeof(text),
             "the PMIx helper takes nothing for %g s: until it does, copies "
             "for tools are dropped",
             HOLD_MS / 1000.0);
    host->cfg.events->on_note(host->cfg.arg, text);
}

/* Counted in looks and not by the clock, as below: who has stood still himself
 * cannot tell how long another one has. */
static void check_held(struct px_host *host)
{
    if (px_queue_is_empty(host) || ++host->held_looks <= HOLD_MS / PX_LOOK_MS)
        return;
    if (!host->is_deaf && host->has_tools)
        say_deaf(host);
    host->is_deaf = true;
    px_queue_drop(host);
    ask(host);
}

static bool is_stuck(struct px_host *host)
{
    unsigned limit_ms = host->is_up ? host->answer_ms : UP_MS;

    if (host->looks == 0)
        return false;
    host->looks++;
    return host->looks > limit_ms / PX_LOOK_MS;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct px_host *host = arg;
    uint64_t now = px_now_ms();

    (void)fd;
    (void)what;
    if (host->phase == PX_HOST_DOWN) {
        restart(host);
        return;
    }
    if (is_stuck(host) || px_flush_is_late(host, now)) {
        on_death(host, "did not answer");
        return;
    }
    check_held(host);
    if ((host->has_tools || px_queue_is_waiting(host)) &&
        now - host->answered_ms >= QUIET_MS)
        ask(host);
    px_keep_look(host);
    host->is_share_stuck |= host->is_share_full;
    host->is_share_full = false;
    px_queue_wake(host);
}

/* --- public */

static struct px_host_job *add_own(struct px_host *host)
{
    struct px_host_job own = {.size = host->cfg.size,
                              .apps = host->cfg.apps,
                              .parts = host->cfg.parts,
                              .cache_bytes = host->cfg.cache_bytes,
                              .forwards = PX_FORWARD_ALL};

    snprintf(own.nspace, sizeof(own.nspace), "%s", host->cfg.nspace);
    return px_job_add(host, &own);
}

/* Tests do not wait for as long. */
static unsigned answer_ms(void)
{
    const char *given = getenv("XYLEM_PMIX_ANSWER_MS");
    unsigned long ms = given != NULL ? strtoul(given, NULL, 10) : 0;

    return ms > 0 && ms < ANSWER_MS ? (unsigned)ms : ANSWER_MS;
}

int px_host_open(const struct px_host_cfg *cfg, struct px_host **out)
{
    struct px_host *host = calloc(1, sizeof(*host));

    if (host == NULL)
        return OV_ENOMEM;
    host->cfg = *cfg;
    host->pid = -1;
    host->fd = -1;
    host->items_last = &host->items;
    host->answer_ms = answer_ms();
    host->timer = evtimer_new(cfg->base, on_timer, host);
    if (host->timer == NULL || px_salvage_open(host) != 0 ||
        px_push_open(host) != 0 || add_own(host) == NULL) {
        px_host_close(host);
        return OV_ENOMEM;
    }
    /* Who has started us, or a dvm, waits for it. */
    px_queue_arm(host,
                 px_rendezvous_path() != NULL || cfg->is_dvm ? 0 : FIRST_MS);
    *out = host;
    return 0;
}

void px_host_close(struct px_host *host)
{
    int err = errno;

    if (host == NULL)
        return;
    if (host->pid >= 0)
        px_process_end(host->pid);
    put_down(host);
    px_salvage_close(host);
    if (host->timer != NULL)
        event_free(host->timer);
    px_push_close(host);
    px_jobs_close(host);
    free(host);
    errno = err;
}

bool px_host_output(struct px_host *host, const struct job_record *output)
{
    struct px_item item = {.output = *output};
    struct px_host_job *job = px_job_of(host, output->proc);

    if (job != NULL && output->ticket != 0)
        return px_replay_output(host, output);
    if (job != NULL && output->is_end)
        px_replay_end(host, job, output->proc - job->base, output->channel);
    if (job == NULL || !px_ends_note(host, job, output) ||
        (job->wanted[output->proc - job->base] & 1u << output->channel) == 0)
        return false;
    if (!host->is_deaf || output->is_redirected)
        return px_queue_push(host, &item);
    px_queue_count_dropped(host, output, output->len_bytes);
    item.output.len_bytes = 0;
    item.output.mem = NULL;
    item.is_bare = true;
    if (output->is_end)
        px_queue_push(host, &item);
    return false;
}

bool px_host_redirects(const struct px_host *host, uint32_t rank,
                       uint8_t channel)
{
    return px_redirects(host, rank, channel);
}

bool px_host_wants(const struct px_host *host, uint32_t rank, uint8_t channel)
{
    const struct px_host_job *job = px_job_of(host, rank);

    return job != NULL && (job->asked[rank - job->base] & 1u << channel) != 0;
}
