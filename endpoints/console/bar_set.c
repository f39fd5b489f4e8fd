/* A hash table of bars, and how records change them. */
#include "config.h"

#include "endpoints/console/bar_set.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/console/item.h"
#include "endpoints/console/rows.h"
#include "text/cells.h"
#include "text/head.h"
#include "text/row.h"

enum {
    BUCKETS = 4096,
    LABEL_MAX = 128, /* most bytes of a label in a row */
    STEP_BYTES = 32, /* memory grows in such steps */
    /* a state as a line: the most is that of tabs, each of eight blanks */
    LINE_MAX = 8 * EP_BAR_BYTES + TEXT_CELLS_END_BYTES + 1,
};

struct bar {
    struct bar *next; /* next bar of the same bucket */
    struct ep_row row;
    const void *owner;
    struct text_origin origin;
    uint8_t *mem; /* owned: the label, then the state */
    uint32_t room_bytes;
    uint32_t label_bytes;
    uint32_t state_bytes;
    uint32_t proc;
    bool has_returned; /* more text of the line begins a new state */
};

struct ep_bar_set {
    struct ep_rows *rows; /* borrowed */
    uint32_t count;
    struct text_head head;
    struct bar *buckets[BUCKETS];
};

/* What bytes do to a state: the new one is that before them, if they continue
 * it, and those from `begin` to `end`. */
struct change {
    uint32_t begin, end;
    bool continues;
};

/* ---- the table ---- */

static struct bar **find_bar(struct ep_bar_set *bars, uint32_t proc,
                             uint8_t channel)
{
    const uint32_t hash =
        (proc * TEXT_CHANNELS + channel) * UINT32_C(2654435761);
    struct bar **at = &bars->buckets[(hash >> 8) % BUCKETS];

    while (*at != NULL &&
           ((*at)->proc != proc || (*at)->origin.channel != channel))
        at = &(*at)->next;
    return at;
}

static void bar_remove(struct ep_bar_set *bars, struct bar **at)
{
    struct bar *bar = *at;

    *at = bar->next;
    ep_rows_drop(bars->rows, &bar->row);
    bars->count--;
    free(bar->mem);
    free(bar);
}

/* ---- states ---- */

static struct change change_of(const uint8_t *mem, uint32_t len_bytes,
                               bool has_returned)
{
    struct change change = {.end = len_bytes, .continues = !has_returned};
    const uint8_t *back = NULL;

    while (change.end > 0 && mem[change.end - 1] == '\r')
        change.end--;
    if (change.end > 0)
        back = memrchr(mem, '\r', change.end);
    else
        change.continues = true;
    if (back != NULL) {
        change.begin = (uint32_t)(back - mem) + 1;
        change.continues = false;
    }
    return change;
}

/* Makes room for this much behind the label. */
static bool bar_reserve(struct bar *bar, uint32_t bytes)
{
    const uint32_t room_bytes =
        (bar->label_bytes + bytes + STEP_BYTES) / STEP_BYTES * STEP_BYTES;
    uint8_t *mem;

    if (room_bytes <= bar->room_bytes)
        return true;
    mem = realloc(bar->mem, room_bytes);
    if (mem == NULL)
        return false;
    bar->mem = mem;
    bar->room_bytes = room_bytes;
    return true;
}

/* Changes the state by the bytes at mem, of which *change says what they do.
 * Returns false, and changes nothing, when it would become too long. */
static bool bar_change(struct bar *bar, const uint8_t *mem, uint32_t len_bytes,
                       struct change *change)
{
    uint32_t before;

    *change = change_of(mem, len_bytes, bar->has_returned);
    before = change->continues ? bar->state_bytes : 0;
    if (before + (change->end - change->begin) > EP_BAR_BYTES ||
        !bar_reserve(bar, before + (change->end - change->begin)))
        return false;
    if (change->end > change->begin)
        memcpy(bar->mem + bar->label_bytes + before, mem + change->begin,
               change->end - change->begin);
    bar->state_bytes = before + (change->end - change->begin);
    if (len_bytes > 0)
        bar->has_returned = change->end < len_bytes;
    return true;
}

/* Puts the label before the state, as it is for this time. */
static bool bar_label(struct ep_bar_set *bars, struct bar *bar,
                      uint64_t time_ns)
{
    uint32_t bytes;

    bar->origin.time_ns = time_ns;
    bars->head.len_bytes = 0;
    text_row_head(&bars->head, &bar->origin);
    bytes = bars->head.len_bytes < LABEL_MAX ? bars->head.len_bytes : LABEL_MAX;
    if (bytes == 0)
        return true; /* so it is for each time */
    if (bytes > bar->label_bytes &&
        !bar_reserve(bar, bar->state_bytes + bytes - bar->label_bytes))
        return false;
    if (bytes != bar->label_bytes)
        memmove(bar->mem + bytes, bar->mem + bar->label_bytes,
                bar->state_bytes);
    memcpy(bar->mem, bars->head.text, bytes);
    bar->label_bytes = bytes;
    return true;
}

static void bar_show(struct ep_bar_set *bars, struct bar *bar)
{
    bar->row.text = bar->mem;
    bar->row.text_bytes = bar->label_bytes + bar->state_bytes;
    bar->row.head_bytes = bar->label_bytes;
    ep_rows_put(bars->rows, &bar->row);
}

/* ---- the lines that are left of bars ---- */

/* Gives the item the state as text, with a newline if the line is over. Without
 * memory the line is lost on the terminal. */
static void give_text(struct ep_item *item, const struct bar *bar, bool is_over)
{
    uint8_t line[LINE_MAX];
    uint32_t len_bytes =
        text_cells_put(bar->mem + bar->label_bytes, bar->state_bytes, 0,
                       TEXT_CELLS_ANY, line, LINE_MAX - 1);

    if (is_over)
        line[len_bytes++] = '\n';
    item->text = malloc(len_bytes);
    if (item->text == NULL)
        return;
    memcpy(item->text, line, len_bytes);
    item->text_bytes = len_bytes;
}

/* The state is too long to be held, so the line goes on as an ordinary one. */
static void bar_give_up(struct ep_bar_set *bars, struct bar **at,
                        struct ep_item *item, const struct change *change)
{
    if (change->continues)
        give_text(item, *at, false);
    item->from_bytes = change->begin;
    bar_remove(bars, at);
}

/* Ends a bar with the item that continues it, whose line ends after `len_bytes`
 * and the newline, if it has one. */
static void bar_end(struct ep_bar_set *bars, struct bar **at,
                    struct ep_item *item, uint32_t len_bytes)
{
    struct change change;

    if (!bar_change(*at, item->mem, len_bytes, &change)) {
        bar_give_up(bars, at, item, &change);
        return;
    }
    give_text(item, *at, true);
    item->from_bytes =
        len_bytes < item->len_bytes ? len_bytes + 1 : item->len_bytes;
    bar_remove(bars, at);
}

/* Takes what continues a bar. Returns true when that is all of the item. */
static bool bar_go_on(struct ep_bar_set *bars, struct bar **at,
                      struct ep_item *item)
{
    const uint8_t *newline =
        item->len_bytes > 0 ? memchr(item->mem, '\n', item->len_bytes) : NULL;
    struct change change;

    item->is_bar = true;
    if (newline != NULL || item->is_eof) {
        bar_end(bars, at, item,
                newline != NULL ? (uint32_t)(newline - item->mem)
                                : item->len_bytes);
        return false;
    }
    if (!bar_change(*at, item->mem, item->len_bytes, &change)) {
        bar_give_up(bars, at, item, &change);
        return false;
    }
    item->from_bytes = item->to_bytes = item->len_bytes;
    if (item->len_bytes == 0)
        return true;
    if (item->origin.style->has_time)
        (void)bar_label(bars, *at, item->origin.time_ns);
    bar_show(bars, *at);
    return true;
}

/* Begins a bar with the bytes of the item from `start` on. Returns false when
 * that cannot be. */
static bool bar_begin(struct ep_bar_set *bars, const void *owner,
                      struct ep_item *item, uint32_t start)
{
    struct bar **at = find_bar(bars, item->proc, item->origin.channel);
    struct bar *bar = calloc(1, sizeof(*bar));
    struct change change;

    if (bar == NULL)
        return false;
    bar->owner = owner;
    bar->proc = item->proc;
    bar->origin = item->origin;
    bar->row.key = (uint64_t)item->proc << 8 | item->origin.channel;
    if (!bar_label(bars, bar, item->origin.time_ns) ||
        !bar_change(bar, item->mem + start, item->len_bytes - start, &change)) {
        free(bar->mem);
        free(bar);
        return false;
    }
    *at = bar;
    bars->count++;
    item->to_bytes = start;
    item->is_bar = true;
    bar_show(bars, bar);
    return true;
}

/* Returns where the line begins that is unfinished after the item. */
static uint32_t tail_of(const struct ep_item *item)
{
    const uint8_t *newline = NULL;

    if (item->len_bytes > item->from_bytes)
        newline = memrchr(item->mem + item->from_bytes, '\n',
                          item->len_bytes - item->from_bytes);
    return newline != NULL ? (uint32_t)(newline - item->mem) + 1
                           : item->from_bytes;
}

bool ep_bar_set_take(struct ep_bar_set *bars, const void *owner,
                     struct ep_item *item, bool is_prompt)
{
    uint32_t start, len_bytes;

    if (bars->count > 0) {
        struct bar **at = find_bar(bars, item->proc, item->origin.channel);

        if (*at != NULL) {
            if (bar_go_on(bars, at, item))
                return true;
            if (item->from_bytes == 0 ||
                item->mem[item->from_bytes - 1] != '\n')
                return false;
            is_prompt = false;
        }
    }
    if (item->is_eof || item->len_bytes == 0 ||
        item->mem[item->len_bytes - 1] == '\n' || bars->count == EP_BARS_MAX)
        return false;
    start = tail_of(item);
    len_bytes = item->len_bytes - start;
    if (len_bytes == 0 || memchr(item->mem + start, '\r', len_bytes) == NULL)
        return false;
    /* What a prompt has shown is part of its line until a new state begins. */
    if (start == 0 && is_prompt &&
        change_of(item->mem, len_bytes, false).continues)
        return false;
    return bar_begin(bars, owner, item, start);
}

/* ---- all bars of an owner ---- */

/* Finds one of its bars, and returns where the pointer to it is; or NULL. */
static struct bar **find_owned(struct ep_bar_set *bars, const void *owner)
{
    for (uint32_t i = 0; bars->count > 0 && i < BUCKETS; i++) {
        for (struct bar **at = &bars->buckets[i]; *at != NULL;
             at = &(*at)->next) {
            if ((*at)->owner == owner)
                return at;
        }
    }
    return NULL;
}

bool ep_bar_set_end(struct ep_bar_set *bars, const void *owner,
                    struct ep_item *item)
{
    struct bar **at = find_owned(bars, owner);

    if (at == NULL)
        return false;
    item->proc = (*at)->proc;
    item->origin = (*at)->origin;
    item->is_eof = true;
    item->is_bar = true;
    give_text(item, *at, true);
    bar_remove(bars, at);
    return true;
}

void ep_bar_set_forget(struct ep_bar_set *bars, const void *owner)
{
    struct bar **at;

    while ((at = find_owned(bars, owner)) != NULL)
        bar_remove(bars, at);
}

uint32_t ep_bar_set_count(const struct ep_bar_set *bars)
{
    return bars != NULL ? bars->count : 0;
}

void ep_bar_set_close(struct ep_bar_set *bars)
{
    if (bars == NULL)
        return;
    for (uint32_t i = 0; i < BUCKETS; i++) {
        while (bars->buckets[i] != NULL)
            bar_remove(bars, &bars->buckets[i]);
    }
    free(bars);
}

struct ep_bar_set *ep_bar_set_open(struct ep_rows *rows)
{
    struct ep_bar_set *bars = calloc(1, sizeof(*bars));

    if (bars != NULL)
        bars->rows = rows;
    return bars;
}
