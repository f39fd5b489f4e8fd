/* Frames that are for some targets only: which targets these are, for frames in
 * memory and in the store.
 *
 * A set has one bit for each target, and consecutive frames share it. The store
 * has bytes alone; spans beside it say for which frames and targets the bytes
 * are. The number of spans is bounded: when pushes to changing targets fill the
 * table, no frame is saved until the slowest target has read more.
 */
#include "config.h"

#include "endpoints/daemon/feed_set.h"

#include <stdlib.h>
#include <string.h>

#include "endpoints/daemon/feed_impl.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum { WORD_BITS = 64 };

struct feed_set *ep_set_ref(struct feed_set *set)
{
    if (set != NULL)
        set->refs++;
    return set;
}

void ep_set_unref(struct feed_set *set)
{
    if (set != NULL && --set->refs == 0)
        free(set);
}

bool ep_set_has(const struct feed_set *set, const struct feed_target *target)
{
    uint32_t i = target->index;

    return set == NULL ||
           (i < set->bits && (set->bit[i / WORD_BITS] >> i % WORD_BITS & 1));
}

/* Begins an empty set. Asserts that there is memory: it is bounded, and without
 * this little nothing works. */
static void begin_set(struct ep_feed *feed)
{
    uint32_t words = feed->targets_count / WORD_BITS + 1;
    struct feed_set *set =
        calloc(1, sizeof(*set) + words * sizeof(set->bit[0]));

    OV_ASSERT(set != NULL);
    set->refs = 1;
    set->bits = feed->targets_count;
    if (feed->set_goes_on)
        ep_set_unref(feed->set); /* the set before was never complete */
    else
        feed->set_before = feed->set;
    feed->set = set;
}

static bool is_same(const struct feed_set *a, const struct feed_set *b)
{
    uint32_t words = a->bits / WORD_BITS + 1;

    return a->bits == b->bits &&
           memcmp(a->bit, b->bit, words * sizeof(a->bit[0])) == 0;
}

/* Completes a set. When it names the targets of the set before, the old one is
 * used again, so that frames share a span. */
static void settle_set(struct ep_feed *feed)
{
    struct feed_set *before = feed->set_before;

    if (before != NULL && is_same(before, feed->set)) {
        feed->set_before = feed->set;
        feed->set = before;
    }
    ep_set_unref(feed->set_before);
    feed->set_before = NULL;
}

static void mark(struct ep_feed *feed, struct topo_range range)
{
    const struct feed_target *target;

    TAILQ_FOREACH (target, &feed->all, all) {
        uint32_t i = target->index;

        if (range.first <= target->proc && target->proc <= range.last &&
            i < feed->set->bits)
            feed->set->bit[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
    }
}

int ep_set_apply(struct ep_feed *feed, struct ov_push *push)
{
    if ((push->flags & OV_PUSH_NEW) != 0)
        begin_set(feed);
    else if (feed->set == NULL || (push->ranges > 0 && !feed->set_goes_on))
        return OV_EPROTO;
    for (unsigned i = 0; i < push->ranges; i++)
        mark(feed, ov_push_range(push));
    feed->set_goes_on = (push->flags & OV_PUSH_MORE) != 0;
    if (!feed->set_goes_on)
        settle_set(feed);
    return 0;
}

/* --- spans
 * */

static struct feed_span *span_at(const struct ep_feed *feed, uint32_t i)
{
    return &feed->spill.spans[(feed->spill.spans_first + i) % FEED_SPANS_MAX];
}

/* True when a frame may belong to the span: it is for the same targets, and
 * does not end their stdin. */
static bool is_alike(const struct feed_frame *frame, struct feed_set *set,
                     bool is_pushed, bool closes)
{
    return frame->set == set && frame->is_pushed == is_pushed && !closes &&
           !frame->closes;
}

void ep_span_save(struct ep_feed *feed, uint64_t number)
{
    const struct feed_frame *frame = feed_frame_at(feed, number);
    const struct feed_span *last = NULL;

    if (feed->spill.spans_count > 0)
        last = span_at(feed, feed->spill.spans_count - 1);
    if (last != NULL &&
        is_alike(frame, last->set, last->is_pushed, last->closes))
        return;
    /* A frame without bytes belongs to any span, as it only names a set. */
    if (last != NULL && frame->len_bytes == 0 && !frame->closes &&
        !last->closes)
        return;
    OV_ASSERT(feed->spill.spans_count < FEED_SPANS_MAX);
    *span_at(feed, feed->spill.spans_count++) = (struct feed_span){
        .frame = number,
        .at_bytes = frame->at_bytes,
        .set = ep_set_ref(frame->set),
        .is_pushed = frame->is_pushed,
        .closes = frame->closes,
    };
}

uint32_t ep_span_room(const struct ep_feed *feed)
{
    return FEED_SPANS_MAX - feed->spill.spans_count;
}

void ep_span_forget(struct ep_feed *feed, uint64_t number)
{
    while (feed->spill.spans_count > 1 && span_at(feed, 1)->frame <= number) {
        ep_set_unref(span_at(feed, 0)->set);
        feed->spill.spans_first =
            (feed->spill.spans_first + 1) % FEED_SPANS_MAX;
        feed->spill.spans_count--;
    }
}

void ep_span_clear(struct ep_feed *feed)
{
    for (uint32_t i = 0; i < feed->spill.spans_count; i++)
        ep_set_unref(span_at(feed, i)->set);
    feed->spill.spans_first = feed->spill.spans_count = 0;
}

/* Returns the span of a saved frame: the last one that begins at or before the
 * frame. *end_frame and *end_bytes are where the span ends. */
static const struct feed_span *span_of(const struct ep_feed *feed,
                                       uint64_t number, uint64_t *end_frame,
                                       uint64_t *end_bytes)
{
    uint32_t low = 0, high = feed->spill.spans_count;

    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;

        if (span_at(feed, mid)->frame <= number)
            low = mid;
        else
            high = mid;
    }
    *end_frame = feed->spill.saved;
    *end_bytes = ep_feed_bytes_at(feed, feed->spill.saved);
    if (low + 1 < feed->spill.spans_count) {
        *end_frame = span_at(feed, low + 1)->frame;
        *end_bytes = span_at(feed, low + 1)->at_bytes;
    }
    return span_at(feed, low);
}

enum feed_place ep_span_next(struct feed_target *target, uint64_t *len_bytes,
                             bool *is_pushed)
{
    const struct ep_feed *feed = target->feed;

    while (target->next < feed->spill.saved) {
        uint64_t end_frame, end_bytes;
        const struct feed_span *span =
            span_of(feed, target->next, &end_frame, &end_bytes);
        bool is_its = ep_set_has(span->set, target);

        if (is_its && target->place_bytes < end_bytes) {
            *len_bytes = end_bytes - target->place_bytes;
            *is_pushed = span->is_pushed;
            return FEED_PLACE_BYTES;
        }
        if (is_its && span->closes)
            return FEED_PLACE_CLOSED;
        target->next = end_frame;
        target->begun_bytes = 0;
        if (target->place_bytes < end_bytes)
            target->place_bytes = end_bytes;
    }
    return FEED_PLACE_SAVED;
}
