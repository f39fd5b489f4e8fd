/* Texts that clients which watch want printed on the launcher's console. */
#include <stdlib.h>
#include <string.h>

#include "endpoints/client/watcher_impl.h"
#include "overlay/wire/frame.h"

/* The most bytes that are gathered; the launcher takes a little less. */
enum { TEXT_BYTES = 64 * 1024 };

/* Sends the answers that are due, in the order of the texts. */
static void answer_texts(struct ep_watcher *watcher)
{
    struct ep_watcher_text *text = &watcher->text;
    unsigned done = 0;

    while (done < text->count &&
           (text->logs[done].is_written || text->logs[done].is_refused)) {
        const struct job_door msg = {.kind = JOB_DOOR_LOGGED,
                                     .is_over = text->logs[done].is_refused};

        ep_watcher_say(watcher, &msg);
        done++;
    }
    text->count -= done;
    memmove(text->logs, text->logs + done, text->count * sizeof(*text->logs));
}

bool ep_watcher_logged(struct ep_watcher *watcher, uint32_t token)
{
    struct ep_watcher_text *text = &watcher->text;

    for (unsigned i = 0; i < text->count; i++) {
        if (text->logs[i].token != token)
            continue;
        text->logs[i].is_written = true;
        answer_texts(watcher);
        return true;
    }
    return false;
}

static void keep_piece(struct ep_watcher_text *text, struct ov_rd piece)
{
    const uint32_t len_bytes = (uint32_t)ov_rd_left(&piece);
    void *grown = NULL;

    if (!text->is_too_long && len_bytes <= TEXT_BYTES - text->len_bytes)
        grown = realloc(text->mem, (size_t)text->len_bytes + len_bytes + 1);
    text->is_too_long = grown == NULL;
    if (text->is_too_long)
        return;
    text->mem = grown;
    if (len_bytes > 0)
        memcpy(text->mem + text->len_bytes, piece.at, len_bytes);
    text->len_bytes += len_bytes;
}

/* Gives a text to the launcher, which may report within the call that it is
 * written. */
static void give_text(struct ep_watcher *watcher, uint8_t channel)
{
    const struct ep_client_cfg *run = &watcher->all->run;
    struct ep_watcher_text *text = &watcher->text;
    uint8_t *mem = text->mem;
    uint32_t token;

    if (++watcher->all->texts == 0)
        ++watcher->all->texts;
    token = watcher->all->texts;
    text->logs[text->count].token = token;
    text->logs[text->count].is_written = false;
    text->logs[text->count].is_refused = text->is_too_long;
    text->count++;
    text->mem = NULL;
    if (!text->is_too_long &&
        !run->events->on_log(run->arg, token, channel, (const char *)mem,
                             text->len_bytes))
        text->logs[text->count - 1].is_refused = true;
    text->len_bytes = 0;
    text->is_too_long = false;
    free(mem);
    answer_texts(watcher);
}

const char *ep_watcher_log(struct ep_watcher *watcher,
                           const struct job_door *msg)
{
    struct ep_watcher_text *text = &watcher->text;

    if (msg->channel != OV_CHANNEL_STDOUT && msg->channel != OV_CHANNEL_STDERR)
        return "LOG must name stdout or stderr";
    if (text->count == EP_WATCHER_LOGS)
        return "a client that watches must wait for LOGGED before it sends "
               "more texts";
    keep_piece(text, msg->rest);
    if (!msg->is_more)
        give_text(watcher, msg->channel);
    return NULL;
}
