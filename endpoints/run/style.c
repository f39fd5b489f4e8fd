/* Turns the options about output into the configuration of its takers. */
#include "endpoints/run/style.h"

#include <string.h>

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
    cfg->console.style = options->style;
    cfg->console.style.nspace = nspace;
}
