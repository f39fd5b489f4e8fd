/* Options of output, read. */
#include "commands/output_options.h"

#include <string.h>

#include "commands/run_values.h"
#include "endpoints/output/names.h"

static const char *words(const char *option, const char *text)
{
    if (text[0] == '\0')
        run_usage("%s is empty", option);
    return text;
}

static void label(const char *text, struct ep_run_options *o)
{
    if (text == NULL || strcmp(text, "rank") == 0)
        o->style.label = TEXT_LABEL_RANK;
    else if (strcmp(text, "host") == 0)
        o->style.label = TEXT_LABEL_HOST;
    else if (strcmp(text, "full") == 0)
        o->style.label = TEXT_LABEL_FULL;
    else
        run_usage("--label takes rank, host or full, not '%s'", text);
}

static void format(const char *text, struct ep_run_options *o)
{
    if (strcmp(text, "text") == 0)
        o->style.format = TEXT_FORMAT_TEXT;
    else if (strcmp(text, "json") == 0)
        o->style.format = TEXT_FORMAT_JSON;
    else if (strcmp(text, "xml") == 0)
        o->style.format = TEXT_FORMAT_XML;
    else
        run_usage("--format takes text, json or xml, not '%s'", text);
}

static void output_file(const char *text, struct ep_run_options *o)
{
    const char *fault = ep_names_fault(words("--output-file", text));

    if (fault != NULL)
        run_usage(
            "--output-file knows %%n (nspace), %%r (rank), %%h (host) and "
            "%%%%, not '%.2s'",
            fault);
    o->output_file = text;
}

bool output_options_parse(int key, const char *arg, struct ep_run_options *o)
{
    switch (key) {
    case 'l':
        label(arg, o);
        return true;
    case OUTPUT_TIMESTAMP:
        o->style.has_time = true;
        return true;
    case OUTPUT_FORMAT:
        format(arg, o);
        return true;
    case OUTPUT_DIR:
        o->output_dir = words("--output-dir", arg);
        return true;
    case OUTPUT_FILE:
        output_file(arg, o);
        return true;
    case OUTPUT_FILE_ONLY:
        o->file_only = true;
        return true;
    case OUTPUT_MERGE_STDERR:
        o->merge_stderr = true;
        return true;
    case OUTPUT_RAW:
        o->raw = true;
        return true;
    case OUTPUT_UNBUFFERED:
        o->unbuffered = true;
        return true;
    default:
        return false;
    }
}

void output_options_check(const struct ep_run_options *o)
{
    if (o->raw && o->style.label != TEXT_LABEL_NONE)
        run_usage(
            "--raw passes bytes as they come and cannot label lines: leave "
            "out --label or --raw");
    if (o->raw && (o->style.has_time || o->style.format != TEXT_FORMAT_TEXT))
        run_usage("--raw passes bytes as they come and knows no lines: leave "
                  "out --timestamp, --format or --raw");
    if (o->output_dir != NULL && o->output_file != NULL)
        run_usage("--output-dir and --output-file both say where output goes: "
                  "give one of them");
    if (o->file_only && o->output_dir == NULL && o->output_file == NULL)
        run_usage("--file-only needs --output-dir or --output-file");
}
