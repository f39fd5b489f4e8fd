/* xylem-pmix: libpmix in a process of its own, beside the launcher.
 *
 * A tool can crash or stall the library; then this process ends, the launcher
 * starts another one, and the job has not noticed. People do not start it.
 *
 * The main thread reads what the launcher says and never waits for the
 * library; the library's own threads do the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "pmix_api/folder.h"
#include "pmix_api/helper/attribute.h"
#include "pmix_api/helper/back.h"
#include "pmix_api/helper/deliver.h"
#include "pmix_api/helper/event.h"
#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/gate.h"
#include "pmix_api/helper/head.h"
#include "pmix_api/helper/job.h"
#include "pmix_api/helper/lag.h"
#include "pmix_api/helper/live.h"
#include "pmix_api/helper/pulls.h"
#include "pmix_api/helper/request.h"
#include "pmix_api/helper/push.h"
#include "pmix_api/helper/server.h"
#include "pmix_api/helper/settle.h"
#include "pmix_api/helper/sockets.h"
#include "pmix_api/helper/space.h"
#include "pmix_api/helper/talk.h"
#include "pmix_api/helper/tools.h"
#include "pmix_api/helper/turn.h"
#include "pmix_api/share.h"

enum {
    SPACE_BYTES = 1 << 30, /* address space; a tenth is in use as a rule */
    /* Of these 64 tools, as many strangers and 128 files of pulls take 256, and
     * some twenty it has always. The library looks at some with select(). */
    FILES_MAX = HEAD_DESCRIPTORS_MAX,
    KEPT_BYTES = 4 << 20, /* free memory that malloc keeps, in each arena */
    DEAF_MS = 10000, /* the library has not answered for so long: it hangs */
    FLUSH_MS = 2000, /* the end waits so long for a tool that takes nothing, */
    LAST_MS = 10000, /* and for one that takes what comes */
    PACKETS_MAX = 8, /* heard before the library is looked after */
    FDS = 3,         /* descriptors waited for, beside those of tools */
    CALM_MS = 20,
    STUCK_LOOK_MS = 100,
    HOLD_LOOK_MS = 10, /* the library says when it is done; a tool does not */
    UNHEARD_MS = 300,  /* a third of what the launcher waits for, */
    DUE_MS = 50,       /* then it is heard for so long */
    REAP_MS = 1000,    /* between two looks whether tools have gone */
    EXIT_USAGE = 2,
    EXIT_SERVER = 3,
    EXIT_DEAF = 4,
    EXIT_PROTOCOL = 5,
    EXIT_STARVED = 6,
};

static struct {
    char folder[PX_PATH_MAX];
    uint32_t launcher_pid;
    uint8_t allow;
    struct px_share share;       /* with the launcher; empty: there is none */
    uint64_t read_end, free_end; /* of what is shared: read, and given back */
    bool is_up;
    bool is_flushing;
    unsigned settle_ms; /* what tools have is looked at then; 0: it is told */
    uint64_t held_ms;   /* since when nothing was heard for tools; 0: it was */
    uint64_t sweep_ms;  /* 0: no connection is silent */
    uint64_t reaped_ms;
    uint64_t ending_ms;            /* 0: no end of a job waits */
    uint64_t flush_ms;             /* flushing since then; 0: not seen yet */
    uint64_t left_bytes, moved_ms; /* meanwhile */
} main_state;

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static _Noreturn void leave(int code)
{
    if (main_state.folder[0] != '\0')
        px_folder_remove(main_state.folder);
    _exit(code);
}

static _Noreturn void fail(const char *why)
{
    px_talk_note("%s", why);
    leave(EXIT_SERVER);
}

/* --- start */

static void set_limit(int what, rlim_t most)
{
    struct rlimit limit;

    if (getrlimit(what, &limit) == 0 && limit.rlim_cur > most) {
        limit.rlim_cur = most;
        setrlimit(what, &limit);
    }
}

/* Also where the launcher has fewer, as far as it may have more. */
static void set_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max < FILES_MAX ? limit.rlim_max : FILES_MAX;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void prepare(void)
{
    /* The last one: a file that may not grow says so to who writes it. */
    static const int ignored[] = {SIGPIPE, SIGINT,  SIGHUP,  SIGTERM,
                                  SIGQUIT, SIGUSR1, SIGUSR2, SIGXFSZ};

    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
#if !defined(__SANITIZE_ADDRESS__)
    set_limit(RLIMIT_AS, SPACE_BYTES);
#endif
    set_files();
    set_limit(RLIMIT_CORE, 0);
    mallopt(M_ARENA_MAX, 2);
    /* Else each batch of output gives its memory back and faults it in anew. */
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

/* All that there are already. */
static pmix_status_t register_jobs(void)
{
    struct px_job job = {.size = 0};
    pmix_status_t rc = PMIX_SUCCESS;

    while (rc == PMIX_SUCCESS && px_job_next(&job))
        rc = px_space_register(job.base, true);
    return rc;
}

static void go_up(void)
{
    const char *why;
    pmix_status_t rc;

    if (px_deliver_open() || px_push_open())
        fail("out of memory");
    if (px_sockets_open())
        fail("/proc/self/fd cannot be read");
    px_pulls_open(main_state.folder);
    why = px_server_open(main_state.folder, main_state.launcher_pid,
                         main_state.allow);
    if (why != NULL)
        fail(why);
    rc = register_jobs();
    if (rc != PMIX_SUCCESS)
        fail("libpmix does not take the jobs");
    px_attributes_register();
    px_pulls_try(); /* which binds pulls, so there are none before */
    px_gate_open();
    main_state.is_up = true;
    px_talk(&(struct px_msg){.kind = PX_UP, .text = px_text(px_server_uri())});
}

/* --- words of the launcher */

/* Who makes it removes it, also when the launcher is killed any moment. */
static void make_folder(struct px_text named)
{
    char path[PX_PATH_MAX];

    px_text_copy(named, path, sizeof(path));
    if (px_folder_make(path) != 0) {
        px_talk_note("no folder can be made in %s: %s", px_folder_top(),
                     strerror(errno));
        leave(EXIT_SERVER);
    }
    memcpy(main_state.folder, path, sizeof(path));
}

static int on_start(const struct px_start *start)
{
    if (start->version != PX_WIRE_VERSION)
        fail("xylem-pmix is of another version of xylem");
    make_folder(start->folder);
    main_state.launcher_pid = start->pid;
    main_state.allow = start->allow;
    return px_job_start(start);
}

/* With its last part a job is known to all. */
static int on_part(const struct px_part *part)
{
    struct px_job job;
    uint32_t pull;
    int rc = px_job_part(part);

    if (rc != 0 || !main_state.is_up || !px_job_whole_with(part, &job, &pull))
        return rc;
    px_forward_job(pull, &job);
    return px_space_register(job.base, false) == PMIX_SUCCESS ? 0 : OV_ENOMEM;
}

/* What nobody needs any more is free for the next. */
static void free_shared(void)
{
    if (main_state.read_end == main_state.free_end || px_deliver_borrows())
        return;
    main_state.free_end = main_state.read_end;
    if (px_share_free(&main_state.share, main_state.free_end))
        px_talk_kind(PX_ROOM);
}

static int on_output(const struct px_output *output)
{
    struct px_output o = *output;

    if (!o.is_shared) {
        px_pulls_put(&o, now_ms(), false);
        return 0;
    }
    o.mem = px_share_look(&main_state.share, o.at, o.len_bytes);
    if (o.mem == NULL)
        return -1;
    o.is_shared = false;
    px_pulls_put(&o, now_ms(), true);
    main_state.read_end = o.at + o.len_bytes;
    free_shared();
    return 0;
}

static void pong(pmix_status_t status, void *arg)
{
    (void)status;
    (void)arg;
    px_talk_kind(PX_PONG);
}

/* The launcher asks for the library: its thread answers, once it is there. */
static void on_ping(void)
{
    if (main_state.is_up)
        px_turn(pong, NULL);
    else
        pong(PMIX_SUCCESS, NULL);
}

static void on_pull(const struct px_msg *msg)
{
    if (msg->kind == PX_LIVE)
        px_pulls_live(msg->id);
    else if (msg->kind == PX_HEARD)
        px_live_heard(msg->id);
    else if (msg->kind == PX_STOP)
        px_back_stopped(msg->id);
    else
        px_back_taken();
}

static void on_process(const struct px_msg *msg)
{
    if (msg->kind == PX_EXIT)
        px_job_exit(msg->exit.rank, msg->exit.status);
    else
        px_job_pids(&msg->pids);
}

static void on_flush(void)
{
    main_state.is_flushing = true;
    px_pulls_flush();
}

static int on_msg(const struct px_msg *msg)
{
    switch (msg->kind) {
    case PX_START:
        return on_start(&msg->start);
    case PX_PART:
        return on_part(&msg->part);
    case PX_EXIT:
    case PX_PIDS:
        on_process(msg);
        return 0;
    case PX_OUTPUT:
        return on_output(&msg->output);
    case PX_LIVE:
    case PX_HEARD:
    case PX_STOP:
    case PX_TAKEN:
        on_pull(msg);
        return 0;
    case PX_FLUSH:
        on_flush();
        return 0;
    case PX_PING:
        on_ping();
        return 0;
    case PX_STAGE:
        px_event_stage(&msg->stage);
        return 0;
    case PX_DONE:
        px_request_done(&msg->done);
        return 0;
    case PX_BROKEN:
        px_event_broken(&msg->broken);
        return 0;
    case PX_STDIN:
    case PX_GRANT:
    case PX_HELD:
        px_push_told(msg);
        return 0;
    case PX_JOB:
        return px_job_add(&msg->job);
    case PX_TOOL:
    case PX_LOG:
    case PX_SIGNAL:
    case PX_PUSH:
    case PX_PUSHER:
    case PX_REST:
    case PX_ROOM:
    case PX_SPAWN:
    case PX_HANGUP:
    case PX_UP:
    case PX_PULL:
    case PX_QUIET:
    case PX_END:
    case PX_BEHIND:
    case PX_NOTE:
    case PX_FLUSHED:
    case PX_PONG:
        break;
    }
    return -1;
}

/* One packet; false when there is none. */
static bool hear_one(void)
{
    static uint8_t mem[PX_PACKET_BYTES_MAX];
    ssize_t got = recv(TALK_FD, mem, sizeof(mem), MSG_DONTWAIT);
    struct ov_rd rd;
    struct px_msg msg;

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got <= 0)
        leave(0); /* the launcher has gone */
    rd = ov_rd_init(mem, (size_t)got);
    while (ov_rd_left(&rd) > 0) {
        if (px_msg_decode(&rd, &msg) != 0 || on_msg(&msg) != 0)
            leave(EXIT_PROTOCOL);
    }
    if (!main_state.is_up && px_job_is_whole())
        go_up();
    return true;
}

/* What the launcher says is not left unread for long: it would take us for
 * dead, and drop what waits for all tools. */
static bool is_overdue(uint64_t now)
{
    return main_state.held_ms != 0 && now - main_state.held_ms >= UNHEARD_MS;
}

static bool holds(void)
{
    uint64_t now = now_ms();

    if (!main_state.is_up || px_live_is_awaited() || !px_pulls_hold(now))
        return false;
    if (main_state.held_ms == 0)
        main_state.held_ms = now;
    return !is_overdue(now);
}

static bool may_hear(unsigned heard)
{
    return heard < PACKETS_MAX && !px_deliver_is_full() && !holds();
}

/* When it is overdue all that is there: the launcher does not send more before
 * the socket is nearly empty. */
static void hear(void)
{
    uint64_t began = now_ms();
    bool is_due = is_overdue(began);
    unsigned heard = 0;

    while ((is_due ? now_ms() - began < DUE_MS : may_hear(heard)) && hear_one())
        heard++;
    if (heard > 0)
        main_state.held_ms = 0;
}

/* --- the loop */

/* Before the loop waits: what has woken it may be heard already. */
static void look_for_new(uint64_t now)
{
    if (main_state.is_up && px_gate_is_new() && main_state.sweep_ms == 0)
        main_state.sweep_ms = now + TOOLS_GREET_MS;
}

static void sweep(uint64_t now)
{
    if (main_state.sweep_ms == 0 || now < main_state.sweep_ms)
        return;
    if (px_gate_is_starved()) { /* whoever comes now would wait for ever */
        px_talk_note("hardly any descriptors are left");
        leave(EXIT_STARVED);
    }
    main_state.sweep_ms = px_tools_sweep() ? now + TOOLS_GREET_MS : 0;
}

static void flushed(void)
{
    px_pulls_reap(true);
    if (px_back_is_busy())
        return;
    main_state.is_flushing = false;
    px_talk_kind(PX_FLUSHED);
}

/* All is out when nothing waits here and the kernel holds nothing for a tool,
 * for some time: the library may stand in between. */
static void check_flushed(uint64_t now)
{
    uint64_t left;

    if (!main_state.is_flushing || px_back_is_busy())
        return;
    if (main_state.flush_ms == 0)
        main_state.flush_ms = now; /* before it was heard, perhaps */
    left = px_pulls_left_bytes() + px_deliver_asked() + px_lag_bytes() +
           px_tools_unsent_bytes() + px_event_left();
    if (now - main_state.flush_ms >= LAST_MS) {
        flushed();
    } else if (left != main_state.left_bytes || main_state.moved_ms == 0) {
        main_state.left_bytes = left;
        main_state.moved_ms = now;
    } else if (now - main_state.moved_ms >= (left == 0 ? CALM_MS : FLUSH_MS)) {
        flushed();
    }
}

static int until_ms(uint64_t now, uint64_t due)
{
    return due > now ? (int)(due - now) : 0;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

/* Where tools take nothing, what is due waits for that. */
static uint64_t due_ms(uint64_t now, unsigned stuck)
{
    uint64_t due = sooner(px_pulls_due_ms(), main_state.ending_ms);

    if (stuck > 0)
        return now + STUCK_LOOK_MS;
    if (main_state.sweep_ms != 0)
        return sooner(due, main_state.sweep_ms);
    return px_tools_count() > 0 ? sooner(due, now + REAP_MS) : due;
}

static int timeout_ms(uint64_t now, unsigned stuck, bool is_held)
{
    uint64_t due;

    if (main_state.is_flushing)
        return CALM_MS / 2;
    if (is_held)
        return HOLD_LOOK_MS;
    if (px_deliver_asked_ms() != 0)
        return DEAF_MS;
    due = due_ms(now, stuck);
    if (main_state.settle_ms != 0)
        due = sooner(due, now + main_state.settle_ms);
    return due != 0 ? until_ms(now, due) : -1;
}

static void turn(struct pollfd *fds, unsigned stuck)
{
    uint64_t now = now_ms(), asked;

    look_for_new(now);
    poll(fds, FDS + stuck, timeout_ms(now, stuck, fds[0].fd < 0));
    now = now_ms();
    if (fds[0].revents != 0)
        hear();
    else if (fds[0].fd >= 0)
        main_state.held_ms = 0; /* there is nothing */
    px_deliver_close(now);
    if (px_tools_count() > 0 && now - main_state.reaped_ms >= REAP_MS) {
        main_state.reaped_ms = now;
        px_server_reap();
    }
    sweep(now);
    asked = px_deliver_asked_ms(); /* once: the answer may come in between */
    if (asked != 0 && now - asked > DEAF_MS)
        leave(EXIT_DEAF);
    check_flushed(now);
}

int main(void)
{
    struct pollfd fds[FDS + TOOLS_MAX];

    prepare();
    if (fcntl(TALK_FD, F_GETFD) < 0) {
        fputs("xylem-pmix is started by xylem run, not by hand\n", stderr);
        return EXIT_USAGE;
    }
    if (px_share_take(&main_state.share, SHARE_FD) == 0)
        close(SHARE_FD);
    px_settle_open(&main_state.share);
    for (;;) {
        unsigned stuck;

        if (main_state.is_up) {
            px_push_step();
            main_state.ending_ms = px_event_step(now_ms());
        }
        stuck = main_state.is_up ? px_deliver_step(now_ms(), fds + FDS) : 0;
        free_shared();
        main_state.settle_ms = px_settle_all();
        fds[0] =
            (struct pollfd){.fd = holds() ? -1 : TALK_FD, .events = POLLIN};
        fds[1] = (struct pollfd){.fd = px_deliver_fd(), .events = POLLIN};
        fds[2] = (struct pollfd){.fd = px_push_fd(), .events = POLLIN};
        turn(fds, stuck);
    }
}
