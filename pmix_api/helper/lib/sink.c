/* Finds messages of output that must be kept from the tool. */
#include "pmix_api/helper/lib/sink.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "pmix_api/helper/lib/call.h"

struct hidden {
    struct hidden *next;
    uint64_t number;
    unsigned which; /* which messages are left out: bits of enum px_sink_of */
    pmix_proc_t source;
    pmix_iof_channel_t channel;
    size_t infos;
};

static struct {
    struct hidden *first; /* owned, in the order of their numbers */
    struct hidden **last; /* where the next item is appended */
    uint64_t greatest;    /* the greatest number of all items so far */
} sink = {.last = &sink.first};

/* Finds the item with this number, or where it would be inserted. */
static struct hidden **place_of(uint64_t number)
{
    struct hidden **at = sink.last;

    if (number <= sink.greatest)
        at = &sink.first;
    else
        sink.greatest = number;
    while (*at != NULL && (*at)->number < number)
        at = &(*at)->next;
    return at;
}

void px_sink_add(uint64_t number, unsigned which, const pmix_proc_t *source,
                 pmix_iof_channel_t channel, size_t infos)
{
    struct hidden **at = place_of(number), *one;

    if (*at != NULL && (*at)->number == number) {
        (*at)->which |= which;
        return;
    }
    one = malloc(sizeof(*one));
    if (one == NULL)
        return;
    *one = (struct hidden){.next = *at,
                           .number = number,
                           .which = which,
                           .source = *source,
                           .channel = channel,
                           .infos = infos};
    *at = one;
    if (one->next == NULL)
        sink.last = &one->next;
}

/* Frees the items with lower numbers: all messages of a delivery come before
 * those of the next delivery. */
static void drop_before(uint64_t number)
{
    while (sink.first != NULL && sink.first->number < number) {
        struct hidden *one = sink.first;

        sink.first = one->next;
        if (sink.first == NULL)
            sink.last = &sink.first;
        free(one);
    }
}

static bool pack(pmix_data_buffer_t *out, void *from, pmix_data_type_t type)
{
    return PMIx_Data_pack(&px_caller()->tool, out, from, 1, type) ==
           PMIX_SUCCESS;
}

/* True when the message begins with the bytes that libpmix packs for the
 * message that the tool's library shows. */
static bool begins_so(struct hidden *one, const void *mem, size_t len_bytes)
{
    size_t of_no_pull = 0;
    pmix_data_buffer_t begin;
    bool is_it;

    PMIX_DATA_BUFFER_CONSTRUCT(&begin);
    is_it = pack(&begin, &one->source, PMIX_PROC) &&
            pack(&begin, &one->channel, PMIX_IOF_CHANNEL) &&
            pack(&begin, &of_no_pull, PMIX_SIZE) &&
            pack(&begin, &one->infos, PMIX_SIZE) &&
            begin.bytes_used <= len_bytes &&
            memcmp(begin.base_ptr, mem, begin.bytes_used) == 0;
    PMIX_DATA_BUFFER_DESTRUCT(&begin);
    return is_it;
}

bool px_sink_has(uint64_t number, const void *mem, size_t len_bytes)
{
    drop_before(number);
    if (sink.first == NULL || sink.first->number != number)
        return false;
    return (sink.first->which &
            (begins_so(sink.first, mem, len_bytes) ? PX_SINK_SHOWN
                                                   : PX_SINK_PULLS)) != 0;
}
