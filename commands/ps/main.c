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
    pid_t pid;        /* the pid of a launcher; 0: all sessions of the user */
    const char *name; /* the name of a job or a dvm; NULL: all jobs */
    bool is_whole;    /* a job was named: print what its processes are doing */
    bool is_json;
};

static struct ps_options options;

/* --- options */

static void read_pid(const char *text, void *into)
{
    struct ps_options *o = into;

    if (o->is_whole)
        usage("name one job: '%s' is another", text);
    o->pid = ep_process_number(text);
    if (o->pid == 0)
        usage("--pid takes a process number, not '%s'", text);
}

/* Reads the number of a session, or the name of a job. */
static void take_which(const char *word, struct option_words *words)
{
    (void)words;
    if (options.is_whole || options.pid != 0)
        usage("name one job: '%s' is another", word);
    options.is_whole = true;
    options.pid = ep_process_number(word);
    if (options.pid == 0)
        options.name = word;
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

static void parse_options(int argc, char **argv)
{
    static char name[] = "xylem ps";
    const struct option_table tables[] = {{.rows = rows, .into = &options},
                                          {0}};
    const struct option_command command = {
        .name = name,
        .args_doc = "[WHICH]",
        .doc = "List the sessions that you have on this machine, and the jobs "
               "that run in them. WHICH is the process number of a launcher, "
               "or the name of a job: then it also says which processes run, "
               "and how others have ended.",
        .tables = tables,
        .on_word = take_which};

    usage_command = "ps";
    options_parse(argc, argv, &command);
}

/* --- for people */

/* Returns the number of columns of the terminal; 0: stdout is no terminal. */
static uint32_t columns(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Writes the details of a job, a line for each group of processes. */
static void put_details(const struct ps_row *row)
{
    const char *rest = row->groups;
    char line[PS_LINE_BYTES];

    while (ps_text_line(&rest, line))
        printf("  %s\n", line);
    ps_table_flow(row, line);
    printf("  %s\n", line);
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
        if (listing->rows[i].groups != NULL)
            put_details(&listing->rows[i]);
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

static void add_groups(json_t *object, const struct ps_row *row)
{
    json_t *groups = json_array();
    const char *rest = row->groups;
    char line[PS_LINE_BYTES];

    while (ps_text_line(&rest, line))
        json_array_append_new(groups, json_string(line));
    json_object_set_new(object, "groups", groups);
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
    if (row->quiet_s != UINT64_MAX)
        add_number(object, "quiet_s", row->quiet_s);
    add_number(object, "stdin_bytes", row->stdin_bytes);
    add_number(object, "stdin_waiting_bytes", row->waiting_bytes);
    if (row->groups != NULL)
        add_groups(object, row);
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

/* --- the command */

static int find(struct ps_listing *listing)
{
    struct ep_sessions sessions;
    int rc = choose_all(options.pid, PS_WAIT_MS, &sessions);

    if (rc != 0)
        return rc;
    rc = ps_listing_open(&sessions, options.is_whole, listing);
    ep_sessions_close(&sessions, NULL);
    if (rc != 0)
        return refuse("%s", ov_strerror(rc));
    if (options.name == NULL || ps_listing_keep(listing, options.name))
        return 0;
    return refuse(
        "no job %s runs on this machine that you may see: it is over, "
        "belongs to another user, or was started with another "
        "XDG_RUNTIME_DIR",
        options.name);
}

int ps_main(int argc, char **argv)
{
    struct ps_listing listing = {.count = 0};
    int rc;

    parse_options(argc, argv);
    rc = find(&listing);
    if (rc == 0 && options.is_json)
        put_objects(&listing);
    else if (rc == 0)
        put_table(&listing);
    ps_listing_close(&listing);
    if (fflush(stdout) != 0 || ferror(stdout) != 0)
        rc = refuse("cannot write the list: %s", strerror(errno));
    return rc;
}
