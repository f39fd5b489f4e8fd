/* xylem ps: lists the sessions of the user on this machine and their jobs. */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "commands/choose.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/ps/listing.h"
#include "commands/refuse.h"
#include "endpoints/client/sessions.h"
#include "endpoints/sys/process.h"
#include "overlay/base/err.h"
#include "text/escape.h"

#define OPTION_INTO struct ps_options

struct ps_options {
    pid_t pid; /* 0: all sessions of the user */
    bool is_json;
};

/* --- options */

static void read_pid(const char *text, void *into)
{
    struct ps_options *o = into;

    o->pid = ep_process_number(text);
    if (o->pid == 0)
        usage("--pid takes a process number, not '%s'", text);
}

static void read_format(const char *text, void *into)
{
    struct ps_options *o = into;

    o->is_json = strcmp(text, "json") == 0;
    if (!o->is_json && strcmp(text, "text") != 0)
        usage("--format takes text or json, not '%s'", text);
}

// clang-format off
static const struct option_row rows[] = {
    {"pid", 'p', "P", "the session of the launcher with this process number",
     0, READ(read_pid)},
    {"format", 0, "FORMAT", "text (a table), or json (an object for each line)",
     0, READ(read_format)},
    {0},
};
// clang-format on

static void parse_options(int argc, char **argv, struct ps_options *out)
{
    static char name[] = "xylem ps";
    const struct option_table tables[] = {{.rows = rows, .into = out}, {0}};
    const struct option_command command = {
        .name = name,
        .doc = "List the sessions that you have on this machine, and the jobs "
               "that run in them.",
        .tables = tables};

    usage_command = "ps";
    options_parse(argc, argv, &command);
}

/* --- for people */

/* The number of columns of the terminal; 0: stdout is no terminal. */
static uint32_t columns(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static void put_table(const struct ps_listing *listing)
{
    const uint32_t width = columns();
    struct ps_widths widths;
    char line[PS_LINE_BYTES];

    ps_table_widths(listing->rows, listing->count, &widths);
    ps_table_line(NULL, &widths, width, line);
    puts(line);
    for (size_t i = 0; i < listing->count; i++) {
        ps_table_line(&listing->rows[i], &widths, width, line);
        puts(line);
    }
}

/* --- for programs */

static void add_text(json_t *object, const char *key, const char *text)
{
    char clean[JOB_DOOR_TEXT_MAX];
    const bool is_valid =
        text_utf8_is_valid((const uint8_t *)text, strlen(text));

    ps_text_clean(text, clean, sizeof(clean));
    json_object_set_new(object, key, json_string(is_valid ? text : clean));
}

static void add_number(json_t *object, const char *key, uint64_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void add_job(json_t *object, const struct ps_row *row)
{
    add_number(object, "hosts", row->hosts_count);
    add_text(object, "host_set", row->hosts);
    add_number(object, "age_s", row->age_s);
    if (row->kind == PS_DVM)
        return;
    add_text(object, "command", row->text);
    add_number(object, "processes", row->processes);
    add_number(object, "left", row->left);
    add_number(object, "output_bytes", row->output_bytes);
    add_number(object, "stdin_bytes", row->stdin_bytes);
}

static void put_object(const struct ps_row *row)
{
    static const char *const states[PS_KINDS] = {
        [PS_JOB] = "job",       [PS_DVM] = "dvm",         [PS_IDLE] = "idle",
        [PS_SILENT] = "silent", [PS_REFUSED] = "refused",
    };
    json_t *object = json_object();

    add_number(object, "pid", (uint64_t)row->pid);
    add_text(object, "state", states[row->kind]);
    if (row->job[0] != '\0')
        add_text(object, "job", row->job);
    if (row->kind == PS_JOB || row->kind == PS_DVM)
        add_job(object, row);
    if (row->kind == PS_REFUSED)
        add_text(object, "why", row->text);
    (void)json_dumpf(object, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(object);
}

static void put_objects(const struct ps_listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        put_object(&listing->rows[i]);
}

/* --- */

static int list(const struct ps_options *options)
{
    struct ep_sessions sessions;
    struct ps_listing listing;
    int rc = choose_all(options->pid, PS_WAIT_MS, &sessions);

    if (rc != 0)
        return rc;
    rc = ps_listing_open(&sessions, &listing);
    ep_sessions_close(&sessions, NULL);
    if (rc != 0)
        rc = refuse("%s", ov_strerror(rc));
    else if (options->is_json)
        put_objects(&listing);
    else
        put_table(&listing);
    ps_listing_close(&listing);
    if (fflush(stdout) != 0 || ferror(stdout) != 0)
        rc = refuse("cannot write the list: %s", strerror(errno));
    return rc;
}

int ps_main(int argc, char **argv)
{
    static struct ps_options options;

    parse_options(argc, argv, &options);
    return list(&options);
}
