/* How far output has come that nobody numbers on its way. */
#include "pmix_api/helper/trail.h"

static struct px_trail_mark *mark_at(struct px_trail *trail, unsigned nth)
{
    return &trail->marks[(trail->first + nth) % TRAIL_MARKS];
}

/* Every other one goes. */
static void thin(struct px_trail *trail)
{
    for (unsigned i = 1; i < trail->used / 2; i++)
        *mark_at(trail, i) = *mark_at(trail, 2 * i);
    trail->used /= 2;
    trail->step_bytes *= 2;
}

void px_trail_note(struct px_trail *trail, struct px_trail_mark mark)
{
    if (trail->used == 0)
        trail->step_bytes = TRAIL_STEP_BYTES;
    else if (mark.own - mark_at(trail, trail->used - 1)->own <
             trail->step_bytes)
        return;
    if (trail->used == TRAIL_MARKS)
        thin(trail);
    *mark_at(trail, trail->used++) = mark;
}

uint64_t px_trail_pass(struct px_trail *trail, uint64_t own)
{
    while (trail->used > 0 && mark_at(trail, 0)->own <= own) {
        trail->last = *mark_at(trail, 0);
        trail->first = (trail->first + 1) % TRAIL_MARKS;
        trail->used--;
    }
    return trail->last.position;
}

uint64_t px_trail_see(const struct px_trail *trail, uint64_t own)
{
    struct px_trail_mark last = trail->last;

    for (unsigned i = 0; i < trail->used; i++) {
        struct px_trail_mark mark =
            trail->marks[(trail->first + i) % TRAIL_MARKS];

        if (mark.own > own)
            break;
        last = mark;
    }
    return last.position;
}
