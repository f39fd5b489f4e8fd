/* Turns each whole output into a script of lines, and goes through it as there
 * is room. */
#include "config.h"

#include "endpoints/output/fold_whole.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "job/diff.h"
#include "overlay/base/err.h"

/* A stretch of lines that begin with a sign, or with none (0). */
struct stretch {
    struct job_text *const *lines; /* borrowed */
    uint32_t count;
    char sign;
};

/* The stretches of one whole output. */
struct fold_script {
    struct job_whole *whole;     /* owned, until all of it is shown */
    struct job_diff_hunk *hunks; /* owned; NULL: its lines are shown as they
                                    are */
    struct job_text *const *most;
    uint32_t hunks_count, hunk, line;
    uint8_t step; /* 0: the head is due */
};

enum { STEP_HEAD, STEP_PLACE, STEP_MINUS, STEP_PLUS, STEP_ALL };

static struct job_whole *most_of(struct job_whole *list)
{
    struct job_whole *most = list;

    for (; list != NULL; list = list->next)
        most = list->members.count > most->members.count ? list : most;
    return most;
}

/* Puts the whole output of most ranks in front. */
static void move_first(struct job_whole **list, struct job_whole *most)
{
    struct job_whole **at = list;

    while (*at != most)
        at = &(*at)->next;
    *at = most->next;
    most->next = *list;
    *list = most;
}

int ep_fold_whole_begin(struct fold_whole *it, struct job_wholes *wholes,
                        bool is_diff)
{
    struct job_whole **last = &it->list;
    int rc;

    *it = (struct fold_whole){.wholes = wholes};
    while ((rc = job_wholes_next(wholes, last)) == 0)
        last = &(*last)->next;
    if (rc == OV_ENOENT)
        rc = 0;
    if (rc == 0 && is_diff && it->list != NULL) {
        it->most = most_of(it->list);
        move_first(&it->list, it->most);
    }
    return rc;
}

static void script_end(struct fold_whole *it)
{
    struct fold_script *script = it->script;

    if (script == NULL)
        return;
    if (script->whole != it->most)
        job_whole_free(script->whole);
    free(script->hunks);
    free(script);
    it->script = NULL;
}

void ep_fold_whole_close(struct fold_whole *it)
{
    script_end(it);
    while (it->list != NULL) {
        struct job_whole *whole = it->list;

        it->list = whole->next;
        if (whole != it->most)
            job_whole_free(whole);
    }
    job_whole_free(it->most);
    job_wholes_close(it->wholes);
    *it = (struct fold_whole){.wholes = NULL};
}

static int script_begin(struct fold_whole *it)
{
    struct fold_script *script = calloc(1, sizeof(*script));
    const struct job_whole *most = it->most;
    struct job_whole *whole = it->list;
    int rc = 0;

    if (script == NULL)
        return OV_ENOMEM;
    it->list = whole->next;
    it->script = script;
    script->whole = whole;
    script->step = STEP_HEAD;
    if (most != NULL && whole != most) {
        const struct job_diff_side from = {most->lines, most->lines_count};
        const struct job_diff_side to = {whole->lines, whole->lines_count};

        script->most = most->lines;
        rc = job_diff(&from, &to, &script->hunks, &script->hunks_count);
    }
    return rc;
}

/* The lines of the step. */
static struct stretch stretch_of(const struct fold_script *script)
{
    const struct job_diff_hunk *hunk = &script->hunks[script->hunk];

    if (script->step == STEP_MINUS)
        return (struct stretch){script->most + hunk->from, hunk->from_count,
                                '-'};
    if (script->step == STEP_PLUS)
        return (struct stretch){script->whole->lines + hunk->to, hunk->to_count,
                                '+'};
    return (struct stretch){script->whole->lines, script->whole->lines_count,
                            0};
}

static int put_place(struct fold_out *out, const struct job_diff_hunk *hunk)
{
    char text[96];
    const int len =
        snprintf(text, sizeof(text),
                 "@@ -%" PRIu32 ",%" PRIu32 " +%" PRIu32 ",%" PRIu32 " @@\n",
                 hunk->from + (hunk->from_count > 0), hunk->from_count,
                 hunk->to + (hunk->to_count > 0), hunk->to_count);

    return ep_fold_out_bytes(out, text, (size_t)len);
}

/* Shows the lines of the step. Returns OV_EAGAIN when the console has no
 * room. */
static int put_lines(struct fold_script *script, struct fold_out *out)
{
    const struct stretch stretch = stretch_of(script);
    int rc = 0;

    for (; rc == 0 && script->line < stretch.count; script->line++) {
        const struct job_text *text = stretch.lines[script->line];

        if (!ep_fold_out_has_room(out))
            return OV_EAGAIN;
        rc = stretch.sign != 0 ? ep_fold_out_bytes(out, &stretch.sign, 1) : 0;
        if (rc == 0)
            rc = ep_fold_out_line(out, &script->whole->members, text,
                                  stretch.sign != 0 ||
                                      script->line + 1 == stretch.count);
    }
    script->line = 0;
    return rc;
}

/* Goes one step on. Returns OV_ENOENT when there is no further one. */
static int step_on(struct fold_script *script, struct fold_out *out)
{
    const bool is_diff = script->most != NULL;
    int rc = 0;

    switch (script->step) {
    case STEP_HEAD:
        script->step = is_diff ? STEP_PLACE : STEP_ALL;
        return ep_fold_out_head(out, &script->whole->members,
                                is_diff ? " otherwise" : "");
    case STEP_PLACE:
        if (script->hunk == script->hunks_count)
            return OV_ENOENT;
        script->step = STEP_MINUS;
        return put_place(out, &script->hunks[script->hunk]);
    case STEP_ALL:
        rc = put_lines(script, out);
        return rc == 0 ? OV_ENOENT : rc;
    default:
        rc = put_lines(script, out);
        if (rc != 0)
            return rc;
        script->hunk += script->step == STEP_PLUS;
        script->step = script->step == STEP_PLUS ? STEP_PLACE : STEP_PLUS;
        return 0;
    }
}

int ep_fold_whole_show(struct fold_whole *it, struct fold_out *out)
{
    int rc = 0;

    while (rc == 0 && (it->script != NULL || it->list != NULL)) {
        if (!ep_fold_out_has_room(out))
            break;
        if (it->script == NULL)
            rc = script_begin(it);
        while (rc == 0)
            rc = step_on(it->script, out);
        if (rc != OV_ENOENT)
            break;
        rc = ep_fold_out_whole(out, &it->script->whole->members,
                               it->script->whole->sum);
        script_end(it);
    }
    if (rc == OV_EAGAIN)
        rc = 0;
    if (rc == 0)
        rc = ep_fold_out_flush(out);
    if (it->script == NULL && it->list == NULL)
        ep_fold_whole_close(it);
    return rc;
}
