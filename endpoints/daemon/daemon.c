/* A daemon's loop, its starter's pipe, its end. */
#include "endpoints/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/daemon/impl.h"
#include "overlay/base/err.h"

/* Leaving waits so long for processes and daemons beneath to be gone. */
enum { FAREWELL_S = 3 };

static void on_output(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;
    ssize_t n = write(fd, d->said.at, d->said.len_bytes);

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        n = 0;
    else if (n < 0) /* nobody listens */
        n = (ssize_t)d->said.len_bytes;
    ep_text_cut(&d->said, (size_t)n);
    if (d->said.len_bytes > 0)
        event_add(d->output, NULL);
}

static void flush_said(struct daemon *d)
{
    if (d->said.len_bytes > 0)
        on_output(STDOUT_FILENO, EV_WRITE, d);
}

void ep_daemon_error(struct daemon *d, const char *words)
{
    ep_boot_error_encode(words, &d->said);
    flush_said(d);
}

void ep_daemon_note(struct daemon *d, const char *words)
{
    if (!d->config.verbose)
        return;
    ep_boot_note_encode(words, &d->said);
    flush_said(d);
}

static void on_farewell(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;

    (void)fd;
    (void)what;
    event_base_loopbreak(d->base);
}

void ep_daemon_check_gone(struct daemon *d)
{
    if (d->is_ending && d->is_bare && d->beneath == 0)
        event_base_loopbreak(d->base);
}

void ep_daemon_stop(struct daemon *d, int exit_code)
{
    struct timeval wait = {FAREWELL_S, 0};

    if (d->is_ending)
        return;
    d->is_ending = true;
    d->exit_code = exit_code;
    if (d->starter != NULL)
        ep_starter_leave(d->starter);
    evtimer_add(d->farewell, &wait);
    d->is_bare = ep_spawner_end(d->spawner) != 0;
    ep_daemon_check_gone(d);
}

static void on_starter_gone(struct daemon *d)
{
    event_del(d->input);
    ep_daemon_stop(d, 1);
}

static void on_input(evutil_socket_t fd, short what, void *arg)
{
    struct daemon *d = arg;
    char mem[16384];
    ssize_t n = read(fd, mem, sizeof(mem));

    (void)what;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        if (d->hub == NULL && ep_boot_reader_end(&d->boot))
            ep_daemon_error(d, d->boot.why);
        on_starter_gone(d);
        return;
    }
    if (ep_boot_reader_feed(&d->boot, mem, (size_t)n)) {
        ep_daemon_error(d, d->boot.why);
        event_del(d->input);
        ep_daemon_stop(d, 1);
    }
}

static void on_term(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ep_daemon_stop(arg, 1);
}

static int open_all(struct daemon *d)
{
    static const struct ep_boot_down_events boot_events = {
        .on_go = ep_daemon_on_go, .on_peer = ep_daemon_on_peer};
    int flags = fcntl(STDOUT_FILENO, F_GETFL);

    signal(SIGPIPE, SIG_IGN);
    d->base = event_base_new();
    if (d->base == NULL)
        return OV_ENOMEM;
    fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
    d->input =
        event_new(d->base, STDIN_FILENO, EV_READ | EV_PERSIST, on_input, d);
    d->output = event_new(d->base, STDOUT_FILENO, EV_WRITE, on_output, d);
    d->farewell = evtimer_new(d->base, on_farewell, d);
    d->term = evsignal_new(d->base, SIGTERM, on_term, d);
    if (d->input == NULL || d->output == NULL || d->farewell == NULL ||
        d->term == NULL || event_add(d->input, NULL) ||
        event_add(d->term, NULL))
        return OV_ENOMEM;
    if (ep_starter_beside("xylemd", d->path, sizeof(d->path)))
        snprintf(d->path, sizeof(d->path), "xylemd");
    ep_boot_reader_init(&d->boot, &boot_events, d, d->path);
    return ep_spawner_attach(d->spawner, d->base, &ep_daemon_spawner_events, d);
}

static void free_event(struct event *event)
{
    if (event != NULL)
        event_free(event);
}

static void close_all(struct daemon *d)
{
    /* Processes first: whatever they still hold ends with them. */
    ep_spawner_close(d->spawner);
    ep_spawner_close(d->shells);
    for (uint32_t i = 0; i < d->nodes_count; i++) {
        ep_local_close(d->nodes[i].local);
        ep_text_fini(&d->nodes[i].job_text);
    }
    ep_hub_close(d->hub);
    ep_starter_close(d->starter);
    free_event(d->input);
    free_event(d->output);
    free_event(d->farewell);
    free_event(d->term);
    free_event(d->reach);
    if (d->base != NULL)
        event_base_free(d->base);
    ep_boot_reader_fini(&d->boot);
    ep_boot_config_fini(&d->config);
    ep_job_fini(&d->job);
    ep_text_fini(&d->said);
    free(d->nodes);
    free(d->numbers);
}

int ep_daemon_run(struct ep_spawner *spawner)
{
    struct daemon *d = calloc(1, sizeof(*d));
    int exit_code = 1;

    if (d == NULL)
        return 1;
    d->spawner = spawner;
    if (open_all(d) == 0) {
        event_base_dispatch(d->base);
        exit_code = d->exit_code;
    }
    close_all(d);
    free(d);
    return exit_code;
}
