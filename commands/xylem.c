/* The program xylem, which users start. It runs the command that argv[1] names.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/fabric.h"
#include "commands/run_options.h"
#include "commands/run_pmix.h"
#include "commands/similar.h"
#include "commands/start.h"
#include "config.h"
#include "endpoints/spawn/spawner.h"

static int run_main(int argc, char **argv)
{
    static const char *const first[] = {
        "hosts", "nodes", "procs",      "ppn",     "label",   "stdin",
        "env",   "chdir", "output-dir", "timeout", "verbose", NULL};
    static const struct run_command command = {
        .name = "xylem run",
        .args_doc = RUN_ARGS_DOC,
        .doc = "Run PROGRAM on many nodes, feed it stdin and show its output, "
               "through a tree of daemons. Options in XYLEM_OPTIONS come "
               "before those given here.",
        .variable = "XYLEM_OPTIONS",
        .help =
            {.first = first,
             .examples =
                 "  xylem run -N 4 -l -- hostname             on 4 virtual "
                 "nodes, here\n"
                 "  xylem run -w 'node[1-8]' -l -- uptime     on 8 hosts, by "
                 "ssh\n"
                 "  xylem run --hostfile hosts -n 64 ./prog   64 processes, by "
                 "slots\n"
                 "  salloc -N 4 xylem run --ppn 8 ./prog      on the hosts of "
                 "an allocation\n"
                 "  xylem run -w a,b,c sh -c 'cat >copy' <file\n"
                 "                                            a file to all "
                 "hosts\n"},
        .desk = run_pmix_desk,
        .pmix_allow = run_pmix_allow};
    static struct ep_run_options options;

    run_options_parse(argc, argv, &command, &options);
    return options.dvm != NULL ? run_dvm(&options) : ep_run(&options);
}

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"run", run_main,
     "start a command on many nodes, feed it, show its output"},
    {"attach", attach_main, "show the output of a running job, send it input"},
    {"ps", ps_main, "list the jobs that run, and what became of their ranks"},
    {"stack", stack_main, "show in which functions the ranks of a job are"},
    {"dvm", dvm_main, "keep a tree of daemons up that jobs are started in"},
    {"tree", tree_main, "draw the tree that run would build, start nothing"},
    {"sim", sim_main, "see how a tree of many nodes would carry a job"},
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static int no_command(const char *word)
{
    struct similar likely;

    similar_init(&likely, word, strlen(word));
    for (int i = 0; i < COMMANDS; i++)
        similar_offer(&likely, commands[i].name);
    if (word[0] == '-')
        fprintf(stderr,
                "xylem: a command comes first, then its options: `xylem run %s "
                "...' (try `xylem --help')\n",
                word);
    else if (likely.best != NULL)
        fprintf(stderr,
                "xylem: there is no command '%s' (did you mean `xylem %s'?)\n",
                word, likely.best);
    else
        fprintf(stderr,
                "xylem: there is no command '%s': `xylem run %s' runs a "
                "program (try `xylem --help')\n",
                word, word);
    return 2;
}

/* Returns the number of a command, or COMMANDS. */
static int find_command(const char *name)
{
    int i = 0;

    while (i < COMMANDS && strcmp(name, commands[i].name) != 0)
        i++;
    return i;
}

static int help(void)
{
    printf("Usage: xylem COMMAND [OPTIONS...]\n\n");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-8s %s\n", commands[i].name, commands[i].what);
    printf("\nExamples:\n"
           "  xylem run -N 4 -l -- hostname          on 4 virtual nodes, here\n"
           "  xylem run -w 'node[1-8]' -l -- uptime  on 8 hosts, by ssh\n"
           "  xylem attach                           the output of that, in "
           "another terminal\n"
           "\n`xylem COMMAND --help' tells the options of a command.\n");
    return 0;
}

static bool is_either(const char *word, const char *letter, const char *name)
{
    return strcmp(word, letter) == 0 || strcmp(word, name) == 0;
}

/* Handles `xylem help' and `xylem help COMMAND'. */
static int help_command(int argc, char **argv)
{
    static char option[] = "--help";
    char *words[] = {argv[0], argv[2], option, NULL};
    int i;

    if (argc == 2 || strcmp(argv[2], "help") == 0 ||
        is_either(argv[2], "-h", "--help"))
        return help();
    i = find_command(argv[2]);
    return i < COMMANDS ? commands[i].main(3, words) : no_command(argv[2]);
}

int main(int argc, char **argv)
{
    int i;

    if (argc == 2 && strcmp(argv[1], EP_SPAWNER_OPTION) == 0)
        ep_spawner_become();
    start();
    fabric_offer();
    if (argc < 2) {
        fputs("xylem: no command is given (try `xylem --help')\n", stderr);
        return 2;
    }
    if (is_either(argv[1], "-V", "--version")) {
        printf("xylem %s\n", PACKAGE_VERSION);
        return 0;
    }
    if (is_either(argv[1], "-h", "--help"))
        return help();
    if (strcmp(argv[1], "help") == 0)
        return help_command(argc, argv);
    i = find_command(argv[1]);
    return i < COMMANDS ? commands[i].main(argc, argv) : no_command(argv[1]);
}
