/* Writes a line of status to a terminal, and erases it. */
#include "config.h"

#include "endpoints/console/status.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/sys/fatal.h"
#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"

enum { SETTLE_MS = 500 };

/* The cursor goes back to the first column. What the terminal echoes there,
 * such as ^C, is then erased with the line. All below the cursor is erased,
 * too: a terminal that was made narrower may have put the end of the line
 * there. */
static const char begin[] = "\r", end[] = "\033[J\r", erase[] = "\r\033[J";

struct ep_status {
    struct ep_sink *sink; /* owned */
    void (*on_gone)(void *arg);
    void *arg;
    unsigned busy;  /* writes that are not done */
    bool is_shown;  /* the line is, or may be, on the terminal */
    bool is_hiding; /* the last write erases it */
    bool is_dead;   /* the terminal cannot be written */
    char text[EP_STATUS_BYTES + 1];
};

static void gone(struct ep_status *status)
{
    status->is_shown = status->is_hiding = false;
    ep_fatal_set(-1, NULL);
    status->on_gone(status->arg);
}

static void on_written(void *arg, uint64_t cookie)
{
    struct ep_status *status = arg;

    (void)cookie;
    status->busy--;
}

static void on_error(void *arg, int err)
{
    struct ep_status *status = arg;

    (void)err;
    status->is_dead = true;
    status->busy = 0;
    gone(status);
}

static void on_batch_end(void *arg)
{
    struct ep_status *status = arg;

    if (status->is_hiding && status->busy == 0)
        gone(status);
}

static bool put(struct ep_status *status, const char *words[], int n)
{
    struct iovec iov[EP_SINK_IOV_MAX];

    for (int i = 0; i < n; i++)
        iov[i] = (struct iovec){.iov_base = (void *)(uintptr_t)words[i],
                                .iov_len = strlen(words[i])};
    if (ep_sink_write(status->sink, iov, n, 0) != 0)
        return false;
    status->busy++;
    return true;
}

int ep_status_open(struct ep_writer *writer, int fd, void (*on_gone)(void *arg),
                   void *arg, struct ep_status **out)
{
    static const struct ep_sink_events events = {
        .on_written = on_written,
        .on_error = on_error,
        .on_batch_end = on_batch_end,
    };
    struct ep_status *status = calloc(1, sizeof(*status));
    int rc = OV_ENOMEM;

    *out = NULL;
    if (status == NULL)
        return rc;
    status->on_gone = on_gone;
    status->arg = arg;
    rc = ep_sink_open(writer, fd, &events, status, &status->sink);
    if (rc != 0)
        free(status);
    else
        *out = status;
    return rc;
}

bool ep_status_show(struct ep_status *status, const char *text)
{
    if (status == NULL || status->is_dead || status->busy > 0)
        return false;
    snprintf(status->text, sizeof(status->text), "%s", text);
    if (!put(status, (const char *[]){begin, status->text, end}, 3))
        return false;
    status->is_shown = true;
    ep_fatal_set(ep_sink_fd(status->sink), erase);
    return true;
}

void ep_status_hide(struct ep_status *status)
{
    if (status == NULL || !status->is_shown || status->is_hiding)
        return;
    status->is_hiding = put(status, (const char *[]){erase}, 1);
}

void ep_status_forget(struct ep_status *status)
{
    if (status != NULL && status->is_shown && status->busy == 0)
        gone(status);
}

bool ep_status_is_shown(const struct ep_status *status)
{
    return status != NULL && status->is_shown;
}

void ep_status_settle(struct ep_status *status)
{
    ep_status_hide(status);
    if (ep_status_is_shown(status))
        (void)ep_sink_wait(status->sink, SETTLE_MS);
}

void ep_status_close(struct ep_status *status)
{
    if (status == NULL)
        return;
    ep_status_settle(status);
    ep_fatal_set(-1, NULL);
    /* A thread that cannot be ended uses this memory for ever. */
    if (ep_sink_close(status->sink, true))
        free(status);
}
