/* `xylem dvm`. */
#include "commands/dvm.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands/dvm_stop.h"
#include "commands/run_options.h"
#include "commands/run_pmix.h"
#include "commands/run_values.h"
#include "endpoints/sys/beside.h"

enum { KEY_REPORT_URI = 1024, KEY_STOP };

static const char *report_uri;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    (void)state;
    if (key == KEY_STOP)
        run_usage("--stop takes no other option");
    if (key != KEY_REPORT_URI)
        return ARGP_ERR_UNKNOWN;
    if (arg[0] == '\0')
        run_usage("--report-uri is empty");
    report_uri = arg;
    return 0;
}

/* Without it there would be a tree that nobody can use. */
static bool can_serve(void)
{
    char path[EP_BESIDE_MAX];

    if (run_pmix_find(path) == 0)
        return true;
    fputs("xylem: dvm needs the program xylem-pmix, which is not here: this "
          "xylem was built without libpmix (install it, the package "
          "libpmix-dev of apt, pmix-devel of dnf, and build again), or only a "
          "part of it was installed\n",
          stderr);
    return false;
}

int dvm_main(int argc, char **argv)
{
    static const struct argp_option own[] = {
        {"report-uri", KEY_REPORT_URI, "FILE", 0,
         "write the address for tools to FILE (-: stdout) when they can come",
         9},
        {"stop", KEY_STOP, "WHICH", OPTION_ARG_OPTIONAL,
         "end the dvm that runs, or the one with this process number or name",
         9},
        {0}};
    static const struct argp argp = {.options = own, .parser = parse};
    static const struct argp_child more[] = {{.argp = &argp}, {0}};
    static const char *const daemon[] = {"xylemd", NULL};
    static char name[] = "xylem dvm";
    static const struct run_command command = {
        .name = name,
        .doc = "Start a tree of daemons and keep it up, without a job of its "
               "own: `xylem run --dvm' and PMIx tools start jobs in it, until "
               "it is told to end.",
        .more = more,
        .keys = run_options_tree,
        .tap = &run_pmix_tap,
        .pmix_allow = run_pmix_allow,
        .takes = RUN_NO_PROGRAMS};
    static struct ep_run_options options;

    run_usage_command = "dvm";
    if (dvm_stop_is_meant(argc, argv))
        return dvm_stop(argc, argv);
    run_options_parse(argc, argv, &command, &options);
    if (!can_serve())
        return 1;
    options.is_dvm = true;
    options.report_uri = report_uri;
    options.stdin_ranks = "none";
    options.apps[0].program.argv = daemon;
    return ep_run(&options);
}
