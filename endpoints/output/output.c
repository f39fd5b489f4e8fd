/* Hands records to all places, and back to the caller when the last place has
 * finished with them. */
#include "config.h"

#include "endpoints/output/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/output/files.h"
#include "endpoints/output/turns.h"
#include "overlay/base/err.h"

struct ep_output {
    struct ep_output_cfg cfg;
    /* NULL: there is none; likewise for files. With file_only it takes no
     * records, and is there once a status was shown. */
    struct ep_console *console;
    struct ep_files *files;
    /* One of them at most; without, the console shows output as it comes. */
    struct ep_turns *turns;
    struct ep_folds *folds;
};

/* True when output goes to the console. */
static bool is_shown(const struct ep_output *out)
{
    return !out->cfg.file_only;
}

/* ---- from the places ---- */

static void on_taken(void *arg, uint64_t cookie)
{
    struct ep_output *out = arg;

    out->cfg.events->on_taken(out->cfg.arg, cookie);
}

static void on_drained(void *arg)
{
    struct ep_output *out = arg;

    if (ep_output_pending(out) == 0)
        out->cfg.events->on_drained(out->cfg.arg);
}

static void on_note(void *arg, const char *text)
{
    struct ep_output *out = arg;

    out->cfg.events->on_note(out->cfg.arg, text);
}

static void on_pause(void *arg)
{
    struct ep_output *out = arg;

    out->cfg.events->on_pause(out->cfg.arg);
}

static void on_console_taken(void *arg, uint64_t cookie)
{
    struct ep_output *out = arg;

    if (out->turns != NULL)
        ep_turns_taken(out->turns, cookie);
    else if (out->folds != NULL)
        ep_folds_taken(out->folds, cookie);
    else
        on_taken(out, cookie);
}

static void on_shown(void *arg, uint32_t proc, uint8_t channel, const void *mem,
                     uint32_t len_bytes)
{
    struct ep_output *out = arg;

    out->cfg.events->on_written(out->cfg.arg, EP_OUTPUT_CONSOLE, proc, channel,
                                mem, len_bytes);
}

static void on_console_written(void *arg, uint32_t proc, uint8_t channel,
                               const void *mem, uint32_t len_bytes)
{
    struct ep_output *out = arg;

    if (out->folds != NULL)
        ep_folds_written(out->folds, proc, channel, mem, len_bytes);
    else
        on_shown(out, proc, channel, mem, len_bytes);
}

static void on_console_error(void *arg, uint8_t channel, int err)
{
    struct ep_output *out = arg;
    char why[256];

    snprintf(why, sizeof(why), "cannot write to %s: %s",
             text_channel_name(channel), strerror(err));
    out->cfg.events->on_error(out->cfg.arg, channel, err, why);
}

static void on_files_written(void *arg, uint32_t proc, uint8_t channel,
                             const void *mem, uint32_t len_bytes)
{
    struct ep_output *out = arg;

    out->cfg.events->on_written(out->cfg.arg, EP_OUTPUT_FILES, proc, channel,
                                mem, len_bytes);
}

static void on_files_error(void *arg, int err, const char *why)
{
    struct ep_output *out = arg;

    out->cfg.events->on_error(out->cfg.arg, 0, err, why);
}

static const struct ep_console_events console_events = {
    .on_written = on_console_written,
    .on_taken = on_console_taken,
    .on_error = on_console_error,
    .on_drained = on_drained,
    .on_note = on_note,
    .on_pause = on_pause,
};

static const struct ep_files_events files_events = {
    .on_written = on_files_written,
    .on_taken = on_taken,
    .on_error = on_files_error,
    .on_drained = on_drained,
};

/* ---- turns of ranks, and folds ---- */

static int on_turn(void *arg, const struct job_record *rec)
{
    struct ep_output *out = arg;

    return ep_console_record(out->console, rec);
}

static void on_turns_error(void *arg, int err, const char *why)
{
    struct ep_output *out = arg;

    out->cfg.events->on_error(out->cfg.arg, TEXT_CHANNEL_STDOUT, err, why);
}

static void on_turns_over(void *arg)
{
    struct ep_output *out = arg;

    ep_console_finish(out->console);
}

static const struct ep_turns_events turns_events = {
    .on_record = on_turn,
    .on_taken = on_taken,
    .on_error = on_turns_error,
    .on_note = on_note,
    .on_over = on_turns_over,
};

static const struct ep_folds_events folds_events = {
    .on_record = on_turn,
    .on_written = on_shown,
    .on_taken = on_taken,
    .on_error = on_turns_error,
    .on_note = on_note,
    .on_over = on_turns_over,
};

/* ---- the calls ---- */

static int open_files(struct ep_output *out)
{
    const struct ep_output_cfg *cfg = &out->cfg;
    struct ep_files_cfg files = {
        .base = cfg->console.base,
        .writer = cfg->console.writer,
        .names = cfg->names,
        .style = cfg->console.style,
        .is_raw = cfg->console.is_raw,
        .open_max = cfg->open_max,
        .events = &files_events,
        .arg = out,
    };

    /* Lines of a file are read by programs, not side by side. */
    files.style.rank_digits = files.style.host_bytes = 0;
    return ep_files_open(&files, &out->files);
}

static int open_console(struct ep_output *out)
{
    struct ep_console_cfg cfg = out->cfg.console;

    cfg.events = &console_events;
    cfg.arg = out;
    return ep_console_open(&cfg, &out->console);
}

/* With exact names, a channel goes to its file alone or to the console alone.
 */
static bool is_split(const struct ep_output *out)
{
    return out->cfg.names.kind == EP_NAMES_EXACT;
}

/* Returns the channels of the ranks that the console shows. */
static uint8_t shown_channels(const struct ep_output *out)
{
    uint8_t channels = 0;

    for (uint8_t channel = 1; channel < TEXT_CHANNELS; channel++) {
        if (!is_split(out) || !ep_names_has(&out->cfg.names, channel))
            channels |=
                (uint8_t)(out->cfg.turn_channels & (uint8_t)(1u << channel));
    }
    return channels;
}

static int open_folds(struct ep_output *out)
{
    const struct ep_output_cfg *cfg = &out->cfg;
    const struct ep_folds_cfg folds = {
        .base = cfg->console.base,
        .style = cfg->console.style,
        .how = cfg->fold_how,
        .ranks = cfg->folds,
        .channels = shown_channels(out),
        .has_turn = cfg->has_turn,
        .turn_arg = cfg->turn_arg,
        .events = &folds_events,
        .arg = out,
    };

    return ep_folds_open(&folds, &out->folds);
}

static int open_turns(struct ep_output *out)
{
    const struct ep_output_cfg *cfg = &out->cfg;
    const struct ep_turns_cfg turns = {
        .base = cfg->console.base,
        .shelf = {.writer = cfg->console.writer,
                  .ranks = cfg->turns,
                  .limit_bytes = cfg->console.spool_limit_bytes,
                  .dir = cfg->console.spool_dir},
        .channels = shown_channels(out),
        .has_turn = cfg->has_turn,
        .turn_arg = cfg->turn_arg,
        .events = &turns_events,
        .arg = out,
    };

    return ep_turns_open(&turns, &out->turns);
}

int ep_output_open(const struct ep_output_cfg *cfg, struct ep_output **out,
                   bool *is_files)
{
    const bool has_files = cfg->names.kind != EP_NAMES_NONE;
    struct ep_output *output;
    int rc = 0;
    int err;

    *is_files = false;
    if (cfg->file_only && !has_files)
        return OV_EINVAL;
    output = calloc(1, sizeof(*output));
    if (output == NULL)
        return OV_ENOMEM;
    output->cfg = *cfg;
    if (!cfg->file_only)
        rc = open_console(output);
    if (rc == 0 && output->console != NULL && cfg->turns > 0)
        rc = open_turns(output);
    else if (rc == 0 && output->console != NULL && cfg->folds > 0)
        rc = open_folds(output);
    if (rc == 0 && has_files) {
        rc = open_files(output);
        *is_files = rc != 0;
    }
    if (rc != 0) {
        err = errno;
        ep_output_close(output);
        errno = err;
        return rc;
    }
    *out = output;
    return 0;
}

void ep_output_close(struct ep_output *out)
{
    if (out == NULL)
        return;
    ep_console_close(out->console);
    ep_turns_close(out->turns);
    ep_folds_close(out->folds);
    ep_files_close(out->files);
    free(out);
}

static int show(struct ep_output *out, const struct job_record *rec)
{
    int rc;

    if (!is_shown(out))
        return OV_EINVAL;
    if (out->turns != NULL)
        rc = ep_turns_record(out->turns, rec);
    else if (out->folds != NULL)
        rc = ep_folds_record(out->folds, rec);
    else
        rc = ep_console_record(out->console, rec);
    return rc == 0 ? 1 : rc;
}

int ep_output_show(struct ep_output *out, const struct job_record *rec)
{
    int rc;

    if ((out->turns == NULL && out->folds == NULL) || !is_shown(out))
        return show(out, rec);
    rc = out->turns != NULL ? ep_turns_pass(out->turns, rec)
                            : ep_folds_pass(out->folds, rec);
    return rc == 0 ? 1 : rc;
}

int ep_output_record(struct ep_output *out, const struct job_record *rec)
{
    const bool is_tool = rec->rank == TEXT_CONSOLE_TOOL;
    const bool has_file =
        !is_tool && ep_names_has(&out->cfg.names, rec->channel);
    int shown = 0, rc;

    if (is_tool || (is_shown(out) && !(has_file && is_split(out))))
        shown = show(out, rec);
    if (shown < 0 || !has_file)
        return shown;
    rc = ep_files_record(out->files, rec);
    if (rc == 0)
        return shown + 1;
    if (shown == 0)
        return rc;
    on_files_error(out, ENOMEM, "cannot write output files: out of memory");
    return shown;
}

void ep_output_finish(struct ep_output *out)
{
    if (out->turns != NULL)
        ep_turns_finish(out->turns);
    else if (out->folds != NULL)
        ep_folds_finish(out->folds);
    else if (out->console != NULL)
        ep_console_finish(out->console);
    if (out->files != NULL)
        ep_files_finish(out->files);
}

uint64_t ep_output_pending(const struct ep_output *out)
{
    uint64_t pending = 0;

    if (out->console != NULL)
        pending += ep_console_pending(out->console);
    if (out->turns != NULL)
        pending += ep_turns_pending(out->turns);
    if (out->folds != NULL)
        pending += ep_folds_pending(out->folds);
    if (out->files != NULL)
        pending += ep_files_pending(out->files);
    return pending;
}

bool ep_output_is_stuck(struct ep_output *out, uint64_t *since_ns,
                        enum ep_output_place *place)
{
    *place = EP_OUTPUT_CONSOLE;
    if (out->console != NULL && ep_console_is_stuck(out->console, since_ns))
        return true;
    *place = EP_OUTPUT_FILES;
    return out->files != NULL && ep_files_is_stuck(out->files, since_ns);
}

bool ep_output_pause(struct ep_output *out)
{
    return out->console == NULL || ep_console_pause(out->console);
}

void ep_output_resume(struct ep_output *out)
{
    if (out->console != NULL)
        ep_console_resume(out->console);
}

bool ep_output_status(struct ep_output *out, const char *text)
{
    if (out->console == NULL && (text == NULL || open_console(out) != 0))
        return text == NULL;
    return ep_console_status(out->console, text);
}

bool ep_output_hold(struct ep_output *out, bool is_held)
{
    return out->console == NULL || ep_console_hold(out->console, is_held);
}

void ep_output_forget(struct ep_output *out)
{
    if (out->console != NULL)
        ep_console_forget(out->console);
}

void ep_output_settle(struct ep_output *out)
{
    if (out->console != NULL)
        ep_console_settle(out->console);
}

void ep_output_give_up(struct ep_output *out)
{
    if (out->turns != NULL)
        ep_turns_give_up(out->turns);
    if (out->folds != NULL)
        ep_folds_give_up(out->folds);
    if (out->console != NULL)
        ep_console_give_up(out->console);
    if (out->files != NULL)
        ep_files_give_up(out->files);
}

uint64_t ep_output_dropped(const struct ep_output *out)
{
    uint64_t dropped = 0;

    if (out->console != NULL)
        dropped += ep_console_dropped(out->console);
    if (out->turns != NULL)
        dropped += ep_turns_dropped(out->turns);
    if (out->folds != NULL)
        dropped += ep_folds_dropped(out->folds);
    if (out->files != NULL)
        dropped += ep_files_dropped(out->files);
    return dropped;
}

unsigned ep_output_places(const struct ep_output *out)
{
    return is_shown(out) && out->files != NULL && !is_split(out) ? 2 : 1;
}

unsigned ep_output_nth(const struct ep_output *out, enum ep_output_place place)
{
    return place == EP_OUTPUT_FILES && ep_output_places(out) > 1 ? 1 : 0;
}

bool ep_output_has(const struct ep_output *out, enum ep_output_place place)
{
    return place == EP_OUTPUT_CONSOLE ? is_shown(out) : out->files != NULL;
}
