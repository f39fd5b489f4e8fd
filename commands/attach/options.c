/* Parsing the command line of `xylem attach`, with argp. */
#include "commands/attach/options.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/output_options.h"
#include "commands/run_values.h"
#include "config.h"

enum key {
    KEY_NSPACE = 256,
    KEY_URI,
};

// clang-format off
static const struct argp_option argp_options[] = {
    {.doc = "Which job:", .group = 1},
    {"pid", 'p', "P", 0, "that of the xylem run with this process number", 1},
    {"nspace", KEY_NSPACE, "NS", 0,
     "the one of this name, as --label=full shows it", 1},
    {"uri", KEY_URI, "URI", 0,
     "that of the launcher at this address, as xylem run -v prints it", 1},
    {.doc = "Input and processes:", .group = 2},
    {"ranks", 'r', "LIST", 0, "show these alone, as 0,4-7", 2},
    {"stdin", 'i', "RANKS", 0,
     "send stdin to these processes, or to all", 2},
    {.doc = "Output:", .group = 3},
    OUTPUT_OPTIONS(3)
    {"verbose", 'v', NULL, 0, "say when it is attached, and to what", 3},
    {0},
};
// clang-format on

static pid_t read_pid(const char *text)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        value == 0 || value > INT_MAX)
        run_usage("--pid takes a process number, not '%s'", text);
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
    run_usage("%s '%s': %s", option, text, fault.what);
}

static error_t parse_which(int key, const char *arg, struct attach_options *o)
{
    switch (key) {
    case 'p':
        o->which.pid = read_pid(arg);
        return 0;
    case KEY_NSPACE:
        o->which.nspace = arg;
        return 0;
    case KEY_URI:
        o->which.uri = arg;
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
    case 'v':
        o->verbose = true;
        return 0;
    case ARGP_KEY_ARG:
        run_usage("there is nothing to be said behind the options: '%s'", arg);
    default:
        return output_options_parse(key, arg, &o->output)
                   ? 0
                   : parse_which(key, arg, o);
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
    run_usage_command = "attach";
    *out = (struct attach_options){.feeds = false};
    argp_parse(&argp, argc, argv, 0, NULL, out);
    if ((out->which.pid != 0) + (out->which.nspace != NULL) +
            (out->which.uri != NULL) >
        1)
        run_usage(
            "--pid, --nspace and --uri each name a job: give one of them");
    output_options_check(&out->output);
}
