/* Formats items, hands them to the sink, and counts the bytes that are
 * written. */
#include "config.h"

#include "endpoints/console/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/sys/terminal.h"
#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

static const char newline[] = "\n";
static const char colour_end[] = EP_COLOUR_END;
static const char row_erase[] = "\r\033[K";

/* The cookie of a job holds how many bytes the job has, and whether they are a
 * block. */
static uint64_t cookie_of(uint64_t bytes, bool is_block)
{
    return bytes << 1 | is_block;
}

static bool is_plain(const struct ep_item *item)
{
    return text_style_is_plain(item->origin.style);
}

/* True when the item continues the line of the last byte. */
static bool is_same_line(const struct ep_outlet *out,
                         const struct ep_item *item)
{
    return out->line_channel == item->origin.channel &&
           out->line_proc == item->proc;
}

/* True when nothing is put before the item: it continues the line, or it is
 * from the same process and nothing is labelled. So the bytes of a process's
 * two channels are written unchanged. */
static bool goes_on(const struct ep_outlet *out, const struct ep_item *item)
{
    return is_same_line(out, item) ||
           (out->line_is_plain && out->line_proc == item->proc &&
            out->last_channel != item->origin.channel);
}

/* True when the item must not begin in the colour that another process has left
 * on. */
static bool needs_colour_end(const struct ep_outlet *out,
                             const struct ep_item *item)
{
    return out->colour != NULL && item->len_bytes > 0 &&
           ep_colour_is_strange(out->colour, item->proc);
}

/* Notes which colour the item leaves on, when it begins. Other formats than
 * text have no sequences of it. */
static void colour_take(struct ep_outlet *out, const struct ep_item *item)
{
    const bool is_text = item->origin.style->format == TEXT_FORMAT_TEXT;

    if (out->colour != NULL)
        ep_colour_take(out->colour, item->proc, item->mem + item->from_bytes,
                       is_text ? item->to_bytes - item->from_bytes : 0);
}

/* Notes how many bytes of an unfinished line were written, which end with
 * these. */
static void open_take(struct ep_outlet *out, const uint8_t *mem,
                      size_t len_bytes)
{
    const uint8_t *last = out->mid_line ? memrchr(mem, '\n', len_bytes) : NULL;

    if (!out->mid_line)
        out->open_bytes = 0;
    else if (last != NULL)
        out->open_bytes = (uint64_t)(mem + len_bytes - last - 1);
    else
        out->open_bytes += len_bytes;
}

static void line_take(struct ep_outlet *out, const struct ep_item *item)
{
    out->line_proc = item->proc;
    out->line_channel = item->origin.channel;
    out->last_channel = item->origin.channel;
    out->line_is_plain = is_plain(item);
}

/* Removes ready_first, which is completely handed to the sink. */
static void ready_pop(struct ep_outlet *out)
{
    struct ep_item *item = out->ready_first;

    out->ready_first = item->next;
    if (out->ready_first == NULL)
        out->ready_last = NULL;
    /* The channel has ended, so its line cannot continue. */
    if (item->is_eof && is_same_line(out, item))
        out->line_channel = 0;
    out->at_bytes = 0;
    item->end_bytes = out->handed_bytes;
    item->next = NULL;
    if (out->sent_last != NULL)
        out->sent_last->next = item;
    else
        out->sent_first = item;
    out->sent_last = item;
}

static void sent_answer(struct ep_outlet *out)
{
    while (out->sent_first != NULL &&
           out->sent_first->end_bytes <= out->written_bytes) {
        struct ep_item *item = out->sent_first;

        out->sent_first = item->next;
        if (out->sent_first == NULL)
            out->sent_last = NULL;
        out->events->on_done(out->arg, item);
    }
}

/* Hands a write to the sink. Returns false when the sink takes no more for
 * now. */
static bool task_put(struct ep_outlet *out, struct iovec *iov, int n,
                     uint64_t cookie)
{
    int rc = ep_sink_write(out->sink, iov, n, cookie);

    if (rc == OV_ESYS) /* there is no thread; on_error reports OV_ECLOSED */
        out->err = EAGAIN;
    return rc == 0;
}

/* ---- by reference ---- */

static bool plain_put(struct ep_outlet *out, const struct ep_item *item)
{
    const uint8_t *mem = item->mem + out->at_bytes;
    const uint32_t len_bytes = item->to_bytes - out->at_bytes;
    struct iovec iov[3];
    uint64_t bytes = len_bytes;
    int n = 0;

    if (len_bytes == 0)
        return true;
    if (needs_colour_end(out, item)) {
        iov[n++] = (struct iovec){.iov_base = (void *)(uintptr_t)colour_end,
                                  .iov_len = sizeof(colour_end) - 1};
        bytes += sizeof(colour_end) - 1;
    }
    if (!out->is_raw && out->mid_line && !goes_on(out, item)) {
        iov[n++] = (struct iovec){.iov_base = (void *)(uintptr_t)newline,
                                  .iov_len = 1};
        bytes++;
    }
    iov[n++] = (struct iovec){.iov_base = (void *)(uintptr_t)mem,
                              .iov_len = len_bytes};
    if (!task_put(out, iov, n, cookie_of(bytes, false)))
        return false;
    out->handed_bytes += bytes;
    out->mid_line = mem[len_bytes - 1] != '\n';
    open_take(out, mem, len_bytes);
    colour_take(out, item);
    line_take(out, item);
    return true;
}

/* ---- formatted ---- */

/* Returns the block being filled, or NULL when all blocks are handed to the
 * sink. */
static struct ep_outlet_block *block_open(struct ep_outlet *out)
{
    struct ep_outlet_block *block;

    if (out->blocks_busy == EP_OUTLET_BLOCKS)
        return NULL;
    block =
        &out->blocks[(out->first_block + out->blocks_busy) % EP_OUTLET_BLOCKS];
    if (block->mem == NULL)
        block->mem = malloc(EP_OUTLET_BLOCK_BYTES);
    if (block->mem == NULL && out->blocks_busy == 0)
        out->err = ENOMEM;
    return block->mem != NULL ? block : NULL;
}

static bool block_send(struct ep_outlet *out, struct ep_outlet_block *block)
{
    struct iovec iov = {.iov_base = block->mem, .iov_len = block->len_bytes};

    if (!task_put(out, &iov, 1, cookie_of(block->len_bytes, true)))
        return false;
    out->blocks_busy++;
    return true;
}

static bool block_put(struct ep_outlet *out, struct ep_outlet_block *block,
                      const char *text, uint32_t len_bytes)
{
    if (EP_OUTLET_BLOCK_BYTES - block->len_bytes < len_bytes)
        return false;
    memcpy(block->mem + block->len_bytes, text, len_bytes);
    block->len_bytes += len_bytes;
    out->handed_bytes += len_bytes;
    return true;
}

static bool block_newline(struct ep_outlet *out, struct ep_outlet_block *block)
{
    if (!block_put(out, block, newline, 1))
        return false;
    out->mid_line = false;
    return true;
}

/* Ends the colour that another process has left on. Returns false when there is
 * no room. */
static bool block_colour(struct ep_outlet *out, struct ep_outlet_block *block,
                         const struct ep_item *item)
{
    if (needs_colour_end(out, item) &&
        !block_put(out, block, colour_end, sizeof(colour_end) - 1))
        return false;
    colour_take(out, item);
    return true;
}

/* Returns the block with bytes that are not handed to the sink yet; or NULL. */
static struct ep_outlet_block *block_begun(struct ep_outlet *out)
{
    struct ep_outlet_block *block;

    if (out->blocks_busy == EP_OUTLET_BLOCKS)
        return NULL;
    block =
        &out->blocks[(out->first_block + out->blocks_busy) % EP_OUTLET_BLOCKS];
    return block->len_bytes > 0 ? block : NULL;
}

/* Formats ready_first as far as the block has room. Returns true when all of it
 * is formatted. */
static bool item_format(struct ep_outlet *out, struct ep_outlet_block *block)
{
    struct ep_item *item = out->ready_first;
    const uint8_t *src;
    size_t len;

    if (out->at_bytes < item->to_bytes || text_format_is_open(&out->format)) {
        src = item->mem + out->at_bytes;
        if (out->at_bytes == item->from_bytes &&
            !text_format_is_open(&out->format) &&
            !block_colour(out, block, item))
            return false;
        if (out->mid_line && !is_same_line(out, item) &&
            !block_newline(out, block))
            return false;
        len = text_format_lines(&out->format, &item->origin, &out->mid_line,
                                &src, item->mem + item->to_bytes,
                                block->mem + block->len_bytes,
                                EP_OUTLET_BLOCK_BYTES - block->len_bytes);
        if (len > 0)
            line_take(out, item);
        open_take(out, block->mem + block->len_bytes, len);
        block->len_bytes += (uint32_t)len;
        out->handed_bytes += len;
        out->at_bytes = (uint32_t)(src - item->mem);
        if (out->at_bytes < item->to_bytes || text_format_is_open(&out->format))
            return false;
    }
    if (item->is_eof && out->mid_line && is_same_line(out, item))
        return block_newline(out, block);
    return true;
}

/* ---- bars ---- */

/* Ends the line that is unfinished, before an item that has to do with bars and
 * does not continue it. A line that has become a bar itself is erased where it
 * is in one row of the terminal. */
static void bar_line(struct ep_outlet *out, struct ep_outlet_block *block,
                     const struct ep_item *item)
{
    const bool continues =
        item->text_bytes > 0 || item->from_bytes < item->to_bytes;

    if (!out->mid_line || (is_same_line(out, item) && continues))
        return;
    if (is_same_line(out, item) &&
        out->open_bytes < ep_terminal_size(ep_sink_fd(out->sink)).columns) {
        block_put(out, block, row_erase, sizeof(row_erase) - 1);
        out->mid_line = false;
    } else {
        block_newline(out, block);
    }
}

/* Notes that the text of ready_first is written. */
static void bar_begun(struct ep_outlet *out)
{
    out->ready_first->is_bar = false;
    out->at_bytes = out->ready_first->from_bytes;
}

/* Begins ready_first, which has to do with bars: writes its text. Returns false
 * when that has to wait. */
static bool bar_feed(struct ep_outlet *out)
{
    struct ep_item *item = out->ready_first;
    struct ep_outlet_block *block;
    const uint8_t *src = item->text;
    size_t len;

    if (item->text_bytes == 0 && !out->mid_line) {
        bar_begun(out);
        return true;
    }
    block = block_open(out);
    if (block == NULL)
        return false;
    if (EP_OUTLET_BLOCK_BYTES - block->len_bytes <
        TEXT_FORMAT_ROOM_MIN + EP_ITEM_TEXT_MAX) {
        block_send(out, block);
        return false;
    }
    bar_line(out, block, item);
    if (item->text_bytes > 0) {
        if (needs_colour_end(out, item))
            block_put(out, block, colour_end, sizeof(colour_end) - 1);
        if (out->colour != NULL)
            ep_colour_take(out->colour, item->proc, src, item->text_bytes);
        len = text_format_lines(&out->format, &item->origin, &out->mid_line,
                                &src, src + item->text_bytes,
                                block->mem + block->len_bytes,
                                EP_OUTLET_BLOCK_BYTES - block->len_bytes);
        block->len_bytes += (uint32_t)len;
        out->handed_bytes += len;
        out->open_bytes = len; /* more than a row, where it is unfinished */
        line_take(out, item);
    }
    bar_begun(out);
    return true;
}

/* Hands as much of ready_first as possible to the sink. Returns true when the
 * next item can be tried. */
static bool ready_feed(struct ep_outlet *out)
{
    struct ep_item *item = out->ready_first;
    struct ep_outlet_block *block;

    if (item->is_bar && !bar_feed(out))
        return false;
    if (is_plain(item)) {
        block = block_begun(out);
        if ((block != NULL && !block_send(out, block)) || !plain_put(out, item))
            return false;
        ready_pop(out);
        return true;
    }
    block = block_open(out);
    if (block == NULL)
        return false;
    if (!item_format(out, block))
        return block_send(out, block);
    ready_pop(out);
    return true;
}

/* True when ready_first has not begun and must wait for the end of a pause. */
static bool is_paused(const struct ep_outlet *out)
{
    const bool is_open = out->mid_line && out->line_channel != 0;

    if (out->at_bytes > 0 || text_format_is_open(&out->format))
        return false; /* it has begun */
    return out->pause == EP_OUTLET_PAUSES_AT_ITEM ||
           (out->pause == EP_OUTLET_PAUSES_AT_LINE &&
            (!is_open || out->is_raw ||
             (out->is_finishing && out->ready_first == NULL)));
}

/* True when ready_first is the end of a channel, or the state of a bar, for
 * which nothing is written, so that it need not wait for the end of a pause. */
static bool is_silent(const struct ep_outlet *out)
{
    const struct ep_item *item = out->ready_first;

    return item->from_bytes == item->to_bytes && item->text_bytes == 0 &&
           !out->mid_line;
}

/* Hands a block with some bytes to the sink when no other block is being
 * written. */
static void begun_feed(struct ep_outlet *out)
{
    struct ep_outlet_block *block;

    if (out->is_finishing && out->ready_first == NULL && out->mid_line &&
        !out->line_is_plain) {
        block = block_open(out);
        if (block == NULL)
            return;
        if (!block_newline(out, block)) {
            block_send(out, block);
            return; /* it is tried again when that block is written */
        }
    }
    block = block_begun(out);
    if (block != NULL && out->blocks_busy == 0)
        block_send(out, block);
}

static void outlet_feed(struct ep_outlet *out)
{
    if (out->sink == NULL || out->err != 0)
        return;
    while (out->ready_first != NULL && out->err == 0 &&
           (!is_paused(out) || is_silent(out)) && ready_feed(out))
        ;
    if ((out->ready_first == NULL || is_paused(out)) && out->err == 0)
        begun_feed(out);
    sent_answer(out);
}

/* ---- from the sink ---- */

static void on_written(void *arg, uint64_t cookie)
{
    struct ep_outlet *out = arg;

    out->written_bytes += cookie >> 1;
    if (cookie & 1) {
        OV_ASSERT(out->blocks_busy > 0);
        out->blocks[out->first_block].len_bytes = 0;
        out->first_block = (out->first_block + 1) % EP_OUTLET_BLOCKS;
        out->blocks_busy--;
    }
}

static void on_error(void *arg, int err)
{
    struct ep_outlet *out = arg;

    out->err = err;
}

static void on_batch_end(void *arg)
{
    struct ep_outlet *out = arg;

    outlet_feed(out);
    out->events->on_batch_end(out->arg);
}

static const struct ep_sink_events sink_events = {
    .on_written = on_written,
    .on_error = on_error,
    .on_batch_end = on_batch_end,
};

int ep_outlet_open(struct ep_outlet *out, const struct ep_outlet_cfg *cfg)
{
    int fd;
    int rc;

    *out = (struct ep_outlet){
        .events = cfg->events, .arg = cfg->arg, .is_raw = cfg->is_raw};
    rc = ep_sink_open(cfg->writer, cfg->fd, &sink_events, out, &out->sink);
    if (rc != OV_ESYS || errno != EBADF)
        return rc;
    /* A closed descriptor is no error until something is written. This
     * descriptor, which cannot be written, then gives EBADF in the same way. */
    fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return OV_ESYS;
    rc = ep_sink_open(cfg->writer, fd, &sink_events, out, &out->sink);
    close(fd);
    return rc;
}

void ep_outlet_shows(struct ep_outlet *out, struct ep_colour *colour)
{
    out->colour = colour;
    out->format.is_terminal = true;
}

void ep_outlet_put(struct ep_outlet *out, struct ep_item *item)
{
    item->next = NULL;
    if (out->ready_last != NULL)
        out->ready_last->next = item;
    else
        out->ready_first = item;
    out->ready_last = item;
    if (out->ready_first == item)
        outlet_feed(out);
}

bool ep_outlet_pause(struct ep_outlet *out, enum ep_outlet_pause pause)
{
    out->pause = pause;
    if (out->sink == NULL || out->err != 0)
        return true;
    outlet_feed(out);
    return is_paused(out) && out->handed_bytes == out->written_bytes;
}

void ep_outlet_resume(struct ep_outlet *out)
{
    out->pause = EP_OUTLET_GOES_ON;
    outlet_feed(out);
}

void ep_outlet_finish(struct ep_outlet *out)
{
    out->is_finishing = true;
    outlet_feed(out);
}

int ep_outlet_errno(const struct ep_outlet *out)
{
    return out->err;
}

bool ep_outlet_is_idle(const struct ep_outlet *out)
{
    return out->ready_first == NULL && out->sent_first == NULL &&
           out->handed_bytes == out->written_bytes;
}

bool ep_outlet_is_stuck(struct ep_outlet *out, uint64_t now_ns,
                        uint64_t *since_ns)
{
    uint64_t progress;

    if (out->sink == NULL || ep_outlet_is_idle(out)) {
        out->seen_ns = 0;
        return false;
    }
    progress = ep_sink_progress(out->sink);
    if (out->seen_ns == 0 || progress != out->seen_progress) {
        out->seen_ns = now_ns;
        out->seen_progress = progress;
        return false;
    }
    *since_ns = out->seen_ns;
    return true;
}

static void list_answer(struct ep_outlet *out, struct ep_item *item)
{
    while (item != NULL) {
        struct ep_item *next = item->next;

        out->events->on_done(out->arg, item);
        item = next;
    }
}

void ep_outlet_drop(struct ep_outlet *out)
{
    struct ep_item *sent = out->sent_first;
    struct ep_item *ready = out->ready_first;

    if (out->sink == NULL)
        return;
    if (!ep_sink_close(out->sink, true)) {
        /* The thread will use this memory for ever, so it is not freed. */
        memset(out->blocks, 0, sizeof(out->blocks));
    }
    out->sink = NULL;
    out->sent_first = out->sent_last = NULL;
    out->ready_first = out->ready_last = NULL;
    list_answer(out, sent);
    list_answer(out, ready);
}

void ep_outlet_close(struct ep_outlet *out)
{
    ep_outlet_drop(out);
    for (int i = 0; i < EP_OUTLET_BLOCKS; i++)
        free(out->blocks[i].mem);
    *out = (struct ep_outlet){.sink = NULL};
}
