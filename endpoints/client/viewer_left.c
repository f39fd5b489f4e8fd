/* Jobs that wait to begin, and whose clients have left. */
#include "endpoints/client/viewer_left.h"

#include <stdio.h>
#include <stdlib.h>

#include "endpoints/client/viewer_impl.h"
#include "job/request.h"

struct ep_viewer_left {
    struct ep_viewer_left *next;
    struct ep_viewer_request request;
};

void ep_viewer_leave_job(struct ep_viewer *viewer)
{
    struct ep_viewer_left **at = &viewer->all->left, *left;

    if (viewer->request.mem == NULL || !viewer->request.is_kept)
        return;
    left = calloc(1, sizeof(*left));
    if (left == NULL)
        return;
    left->request = viewer->request;
    viewer->request = (struct ep_viewer_request){.mem = NULL};
    while (*at != NULL)
        at = &(*at)->next;
    *at = left;
}

static void free_left(struct ep_viewer_left **at)
{
    struct ep_viewer_left *left = *at;

    *at = left->next;
    free(left->request.mem);
    free(left);
}

/* Tries to start a job. Returns false when the caller must try again later. */
static bool try_left(struct ep_viewers *all,
                     const struct ep_viewer_request *asked)
{
    struct ep_client_spawned spawned = {.refusal = EP_CLIENT_NO_ROOM};
    struct job_request request;
    char why[EP_CLIENT_WHY_MAX] = "", text[EP_CLIENT_WHY_MAX + 64];
    bool is_made;

    if (job_request_decode(ov_rd_init(asked->mem, asked->len_bytes),
                           &request) != 0)
        return true;
    is_made = ep_viewer_spawn_wish(all, &request, &spawned, why);
    job_request_fini(&request);
    if (is_made || spawned.refusal == EP_CLIENT_LATER)
        return is_made;
    snprintf(text, sizeof(text),
             "a job that a client asked for was refused: %s", why);
    all->cfg.events->on_note(all->cfg.arg, text);
    return true;
}

void ep_viewers_left_on(struct ep_viewers *all)
{
    struct ep_viewer_left **at = &all->left;

    while (*at != NULL) {
        if (try_left(all, &(*at)->request))
            free_left(at);
        else
            at = &(*at)->next;
    }
}

void ep_viewers_left_close(struct ep_viewers *all)
{
    while (all->left != NULL)
        free_left(&all->left);
}
