/* The command line of `xylem run'. */
#ifndef COMMANDS_RUN_OPTIONS_H
#define COMMANDS_RUN_OPTIONS_H

#include "commands/options.h"
#include "endpoints/run/run.h"

#define RUN_ARGS_DOC "PROGRAM [ARGS...] [: [OPTIONS] PROGRAM [ARGS...]]..."

/* A command that accepts options of `run'. */
struct run_command {
    char *name; /* its name with the word xylem before it */
    const char *args_doc, *doc;
    struct option_table more; /* options of its own; all zero: none */
    unsigned sets;            /* as in struct option_command */
    const struct ep_desk_ops *(*desk)(void); /* depends on the options */
    void (*pmix_allow)(const char *users);   /* called for --pmix-allow */
    enum { RUN_PROGRAMS, RUN_MAY_PROGRAMS, RUN_NO_PROGRAMS } takes;
};

/* Parses the words after that of the command, which is argv[1]; strings stay
 * borrowed. On wrong usage, --help and --version it prints something and ends
 * the program (2 or 0). Once in a process. */
void run_options_parse(int argc, char **argv, const struct run_command *command,
                       struct ep_run_options *options);

#endif
