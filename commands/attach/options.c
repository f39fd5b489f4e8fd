/* Parsing the command line of `xylem attach`, with argp. */
#include "commands/attach/options.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

enum key {
    KEY_NSPACE = 256,
    KEY_URI,
    KEY_MERGE_STDERR,
    KEY_RAW,
};

// clang-format off
static const struct argp_option argp_options[] = {
    {.doc = "Which job:", .group = 1},
    {"pid", 'p', "P", 0, "that of the xylem run with this process number", 1},
    {"nspace", KEY_NSPACE, "NS", 0,
     "the one of this name, as --label=full shows it", 1},
    {"uri", KEY_URI, "URI", 0,
     "that of the launcher at this address, as xylem run -v prints it", 1},
    {.doc = "Input and output:", .group = 2},
    {"ranks", 'r', "LIST", 0, "show these alone, as 0,4-7", 2},
    {"stdin", 'i', "RANKS", 0,
     "send stdin to these processes, or to all", 2},
    {"label", 'l', "WHAT", OPTION_ARG_OPTIONAL,
     "every line starts with `RANK: '; --label=host: `HOST: ', --label=full: "
     "`[NSPACE,RANK]<channel>: '", 2},
    {"merge-stderr", KEY_MERGE_STDERR, NULL, 0, "stderr joins stdout", 2},
    {"raw", KEY_RAW, NULL, 0, "bytes as they come, no line handling", 2},
    {"verbose", 'v', NULL, 0, "say when it is attached, and to what", 2},
    {0},
};
// clang-format on

static _Noreturn void usage(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static _Noreturn void usage(const char *format, ...)
{
    va_list args;

    fputs("xylem: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs("\nTry `xylem attach --help' for the options.\n", stderr);
    exit(2);
}

static pid_t read_pid(const char *text)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        value == 0 || value > INT_MAX)
        usage("--pid takes a process number, not '%s'", text);
    return (pid_t)value;
}

/* Its memory lives as long as the program. */
static void read_ranks(const char *option, const char *text,
                       struct topo_ranges *out)
{
    uint32_t terms = topo_ranges_terms(text, strlen(text));
    struct topo_range *items = calloc(terms + 1u, sizeof(*items));
    struct topo_fault fault = {.what = "out of memory"};

    if (items != NULL) {
        topo_ranges_init(out, items, terms + 1);
        if (topo_ranges_parse(out, text, strlen(text), &fault) == 0)
            return;
    }
    usage("%s '%s': %s", option, text, fault.what);
}

static enum ep_label_mode read_label(const char *text)
{
    if (text == NULL || strcmp(text, "rank") == 0)
        return EP_LABEL_RANK;
    if (strcmp(text, "host") == 0)
        return EP_LABEL_HOST;
    if (strcmp(text, "full") == 0)
        return EP_LABEL_FULL;
    usage("--label takes rank, host or full, not '%s'", text);
}

static error_t parse_which(int key, const char *arg, struct attach_options *o)
{
    switch (key) {
    case 'p':
        o->pid = read_pid(arg);
        return 0;
    case KEY_NSPACE:
        o->nspace = arg;
        return 0;
    case KEY_URI:
        o->uri = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct attach_options *o = state->input;

    switch (key) {
    case 'r':
        read_ranks("--ranks", arg, &o->ranks);
        return 0;
    case 'i':
        o->feeds = true;
        if (strcmp(arg, "all") != 0)
            read_ranks("--stdin", arg, &o->stdin_ranks);
        return 0;
    case 'l':
        o->label = read_label(arg);
        return 0;
    case KEY_MERGE_STDERR:
        o->merge_stderr = true;
        return 0;
    case KEY_RAW:
        o->raw = true;
        return 0;
    case 'v':
        o->verbose = true;
        return 0;
    case ARGP_KEY_ARG:
        usage("there is nothing to be said behind the options: '%s'", arg);
    default:
        return parse_which(key, arg, o);
    }
}

void attach_options_parse(int argc, char **argv, struct attach_options *out)
{
    static const struct argp argp = {
        .options = argp_options,
        .parser = parse,
        .doc = "Show the output of a running job, and send it input. Without "
               "an option that says which: the one running on this machine.",
    };

    argp_program_version = "xylem " PACKAGE_VERSION;
    argp_err_exit_status = 2;
    *out = (struct attach_options){.label = EP_LABEL_NONE};
    argp_parse(&argp, argc, argv, 0, NULL, out);
    if ((out->pid != 0) + (out->nspace != NULL) + (out->uri != NULL) > 1)
        usage("--pid, --nspace and --uri each name a job: give one of them");
    if (out->raw && out->label != EP_LABEL_NONE)
        usage("--raw passes bytes as they come and cannot label lines: leave "
              "out --label or --raw");
}
