/* Keeps account of what became of each delivery. */
#include "pmix_api/helper/lib/ledger.h"

static struct px_ledger_mark *mark_at(struct px_ledger *ledger, unsigned nth)
{
    return &ledger->marks[(ledger->first + nth) % LEDGER_MARKS];
}

/* Drops every second mark; the mark after a dropped one then stands for both.
 */
static void thin(struct px_ledger *ledger)
{
    for (unsigned i = 0; i < LEDGER_MARKS / 2; i++)
        *mark_at(ledger, i) = *mark_at(ledger, 2 * i + 1);
    ledger->used = LEDGER_MARKS / 2;
}

static void add_mark(struct px_ledger *ledger, uint64_t number)
{
    struct px_ledger_mark *last =
        ledger->used > 0 ? mark_at(ledger, ledger->used - 1) : 0;

    if (last != 0 && last->end == ledger->bytes) {
        last->number = number;
        return;
    }
    if (ledger->used == LEDGER_MARKS)
        thin(ledger);
    *mark_at(ledger, ledger->used++) =
        (struct px_ledger_mark){number, ledger->bytes};
}

static void mark_written(struct px_ledger *ledger, uint64_t number)
{
    if (number <= ledger->written)
        return;
    while (ledger->written < number) {
        ledger->open_bytes -=
            ledger->costs[++ledger->written % LEDGER_OPEN_MAX];
        if (ledger->written > ledger->begun)
            ledger->missed[ledger->missed_count++ % LEDGER_MISSED] =
                ledger->written;
    }
    add_mark(ledger, number);
}

uint64_t px_ledger_missed(struct px_ledger *ledger, uint64_t behind)
{
    while (ledger->missed_seen < ledger->missed_count &&
           ledger->missed[ledger->missed_seen % LEDGER_MISSED] <= behind)
        ledger->missed_seen++;
    return ledger->missed_seen < ledger->missed_count
               ? ledger->missed[ledger->missed_seen % LEDGER_MISSED]
               : 0;
}

bool px_ledger_is_full(const struct px_ledger *ledger)
{
    const uint64_t open = ledger->given - ledger->written;
    const uint64_t unseen = ledger->missed_count - ledger->missed_seen;

    return open >= LEDGER_OPEN_MAX || open + unseen >= LEDGER_MISSED;
}

void px_ledger_give(struct px_ledger *ledger, uint64_t cost_bytes)
{
    ledger->costs[++ledger->given % LEDGER_OPEN_MAX] = cost_bytes;
    ledger->open_bytes += cost_bytes;
}

void px_ledger_handle(struct px_ledger *ledger)
{
    ledger->handled++;
}

void px_ledger_begin(struct px_ledger *ledger, uint64_t number,
                     uint64_t len_bytes)
{
    ledger->left_bytes = len_bytes;
    if (number <= ledger->begun || number > ledger->given)
        return;
    mark_written(ledger, number - 1);
    ledger->begun = number;
}

bool px_ledger_write(struct px_ledger *ledger, uint64_t bytes)
{
    ledger->bytes += bytes;
    ledger->left_bytes -=
        bytes < ledger->left_bytes ? bytes : ledger->left_bytes;
    return ledger->left_bytes == 0;
}

void px_ledger_rest(struct px_ledger *ledger, uint64_t number)
{
    if (ledger->left_bytes == 0)
        mark_written(ledger, number);
}

void px_ledger_read(struct px_ledger *ledger, uint64_t position)
{
    while (ledger->used > 0 && mark_at(ledger, 0)->end <= position) {
        ledger->taken = mark_at(ledger, 0)->number;
        ledger->first = (ledger->first + 1) % LEDGER_MARKS;
        ledger->used--;
    }
}
