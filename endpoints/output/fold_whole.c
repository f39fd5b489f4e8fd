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

int ep_fold_whole_begin(struct fold_whole *it, struct job_wholes *wholes,
                        bool is_diff)
{
    int rc = 0;

    *it = (struct fold_whole){.wholes = wholes, .is_first = true};
    if (is_diff)
        rc = job_wholes_make(wholes, job_wholes_most(wholes), &it->most);
    return rc == OV_ENOENT ? 0 : rc;
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
    job_whole_free(it->most);
    job_wholes_close(it->wholes);
    *it = (struct fold_whole){.wholes = NULL};
}

/* Makes the whole output that is shown next. Returns OV_ENOENT after the last
 * one. */
static int whole_next(struct fold_whole *it, struct job_whole **out)
{
    const bool is_most = it->is_first && it->most != NULL;

    it->is_first = false;
    if (!is_most)
        return job_wholes_next(it->wholes, out);
    *out = it->most;
    return 0;
}

static int script_begin(struct fold_whole *it)
{
    const struct job_whole *most = it->most;
    struct fold_script *script;
    struct job_whole *whole;
    int rc = whole_next(it, &whole);

    if (rc != 0)
        return rc;
    script = calloc(1, sizeof(*script));
    if (script == NULL) {
        if (whole != most)
            job_whole_free(whole);
        return OV_ENOMEM;
    }
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

/* Shows what is left of one whole output, and ends it. Returns OV_EAGAIN when
 * the console has no room, OV_ENOENT when no whole output is left. */
static int show_one(struct fold_whole *it, struct fold_out *out)
{
    int rc = 0;

    if (!ep_fold_out_has_room(out))
        return OV_EAGAIN;
    if (it->script == NULL)
        rc = script_begin(it);
    if (rc != 0)
        return rc;
    while (rc == 0)
        rc = step_on(it->script, out);
    if (rc != OV_ENOENT)
        return rc;
    rc = ep_fold_out_whole(out, &it->script->whole->members,
                           it->script->whole->sum);
    script_end(it);
    return rc;
}

int ep_fold_whole_show(struct fold_whole *it, struct fold_out *out)
{
    int rc = 0;

    while (rc == 0)
        rc = show_one(it, out);
    if (rc == OV_ENOENT)
        ep_fold_whole_close(it);
    else if (rc != OV_EAGAIN)
        return rc;
    return ep_fold_out_flush(out);
}
