/* Options of output as the sinks of it know them. */
#include "endpoints/run/style.h"

#include <string.h>

static enum text_label_mode label_mode(enum ep_run_label label)
{
    switch (label) {
    case EP_RUN_LABEL_RANK:
        return TEXT_LABEL_RANK;
    case EP_RUN_LABEL_HOST:
        return TEXT_LABEL_HOST;
    case EP_RUN_LABEL_FULL:
        return TEXT_LABEL_FULL;
    case EP_RUN_LABEL_NONE:
        break;
    }
    return TEXT_LABEL_NONE;
}

static enum text_format_kind format_kind(enum ep_run_format format)
{
    switch (format) {
    case EP_RUN_FORMAT_JSON:
        return TEXT_FORMAT_JSON;
    case EP_RUN_FORMAT_XML:
        return TEXT_FORMAT_XML;
    case EP_RUN_FORMAT_TEXT:
        break;
    }
    return TEXT_FORMAT_TEXT;
}

static struct ep_names names_of(const struct ep_run_options *options)
{
    struct ep_names names = {.kind = EP_NAMES_NONE};

    if (options->output_dir != NULL) {
        names.kind = EP_NAMES_DIR;
        names.text = options->output_dir;
    } else if (options->output_file != NULL) {
        names.kind = strchr(options->output_file, '%') != NULL
                         ? EP_NAMES_PATTERN
                         : EP_NAMES_FILE;
        names.text = options->output_file;
    }
    return names;
}

void ep_run_output_cfg(const struct ep_run_options *options, const char *nspace,
                       struct ep_output_cfg *cfg)
{
    *cfg = (struct ep_output_cfg){
        .names = names_of(options),
        .file_only = options->file_only,
    };
    ep_console_cfg_init(&cfg->console);
    cfg->console.is_raw = options->raw;
    cfg->console.style = (struct text_style){
        .nspace = nspace,
        .label = label_mode(options->label),
        .format = format_kind(options->format),
        .has_time = options->timestamp,
    };
}
