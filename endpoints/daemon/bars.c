/* Counts what is left out of progress bars. */
#include "endpoints/daemon/bars.h"

#include <stdlib.h>

#include "text/progress.h"

struct ep_bar {
    struct ep_bars *bars;
    struct text_progress progress;
};

struct ep_bar *ep_bar_open(struct ep_bars *bars)
{
    struct ep_bar *bar =
        bars->count < EP_BARS_MAX ? calloc(1, sizeof(*bar)) : NULL;

    if (bar == NULL)
        return NULL;
    bar->bars = bars;
    bars->count++;
    return bar;
}

void ep_bar_close(struct ep_bar *bar)
{
    if (bar != NULL)
        bar->bars->count--;
    free(bar);
}

uint32_t ep_bar_begin(struct ep_bar *bar, uint8_t *dst, uint32_t room)
{
    return text_progress_begin(&bar->progress, dst, room);
}

uint32_t ep_bar_keep(struct ep_bar *bar, uint8_t *mem, uint32_t len_bytes,
                     bool is_last)
{
    const uint64_t states = bar->progress.left_states;
    const uint64_t bytes = bar->progress.left_bytes;
    const uint32_t left =
        text_progress_keep(&bar->progress, mem, len_bytes, is_last);

    bar->bars->left_states += bar->progress.left_states - states;
    bar->bars->left_bytes += bar->progress.left_bytes - bytes;
    return left;
}
