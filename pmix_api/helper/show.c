/* Output as lines that say whose they are. */
#include "pmix_api/helper/show.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pmix_api/spawn.h"
#include "pmix_api/style.h"
#include "text/format.h"

struct px_show {
    struct text_style style;
    struct text_format format;
    struct px_job job;
    uint8_t *mid; /* owned [processes]: 1 << channel when it is in a line */
};

bool px_show_is_wanted(uint32_t output)
{
    return (output & PX_OUTPUT_FORMATS) != 0;
}

struct px_show *px_show_open(uint32_t output, const struct px_job *job)
{
    struct px_show *show = calloc(1, sizeof(*show));

    if (show == NULL)
        return NULL;
    show->job = *job;
    show->style = px_output_style(output);
    show->style.nspace = show->job.nspace;
    show->mid = calloc((size_t)job->size + 1, 1);
    if (show->mid != NULL)
        return show;
    free(show);
    return NULL;
}

void px_show_close(struct px_show *show)
{
    if (show == NULL)
        return;
    free(show->mid);
    free(show);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Bytes that were dropped are told before the first piece, the end with the
 * last one. */
void px_show_put(struct px_show *show, const struct px_output *output,
                 struct px_queue *queue)
{
    static uint8_t room[PX_OUTPUT_BYTES_MAX];
    const uint32_t rank = output->rank - show->job.base;
    const uint8_t bit = (uint8_t)(1u << output->channel);
    const uint8_t *at = output->mem, *end = at + output->len_bytes;
    struct text_origin from = {
        .style = &show->style,
        .time_ns = show->style.has_time ? now_ns() : 0,
        .rank = rank,
        .channel = output->channel,
    };
    struct px_output piece = *output;
    bool mid_line = (show->mid[rank] & bit) != 0;

    do {
        piece.len_bytes = 0;
        if (output->len_bytes > 0)
            piece.len_bytes = (uint32_t)text_format_lines(
                &show->format, &from, &mid_line, &at, end, room, sizeof(room));
        piece.mem = room;
        piece.is_end =
            output->is_end && at == end && !text_format_is_open(&show->format);
        px_queue_put(queue, &piece);
        piece.dropped_bytes = 0;
    } while (at < end || text_format_is_open(&show->format));
    show->mid[rank] &= (uint8_t)~bit;
    if (mid_line)
        show->mid[rank] |= bit;
}
