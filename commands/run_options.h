/* The command line of `xylem run'. */
#ifndef COMMANDS_RUN_OPTIONS_H
#define COMMANDS_RUN_OPTIONS_H

#include "commands/options.h"
#include "endpoints/run/run.h"

#define RUN_ARGS_DOC "PROGRAM [ARGS...] [: [OPTIONS] PROGRAM [ARGS...]]..."

/* A command that accepts the options of `xylem run'. */
struct run_command {
    const char *name; /* for example "xylem run" */
    const char *args_doc, *doc;
    struct option_help help;
    struct option_table more; /* options that only this command has; all zero:
                                 it has none */
    /* the variable of the environment with options that come before those on
     * the command line; NULL: there is none */
    const char *variable;
    unsigned sets;                           /* as in struct option_command */
    const struct ep_desk_ops *(*desk)(void); /* returns the desk for PMIx tools
                                                that the parsed options ask
                                                for */
    void (*pmix_allow)(const char *users);   /* called with the value of
                                                --pmix-allow */
    enum { RUN_PROGRAMS, RUN_MAY_PROGRAMS, RUN_NO_PROGRAMS } takes;
};

/* Parses the arguments after argv[1], the name of the command; *options borrows
 * strings of argv. On wrong usage, --help and --version it prints something and
 * ends the program (with 2 or 0). To be called once in a process. */
void run_options_parse(int argc, char **argv, const struct run_command *command,
                       struct ep_run_options *options);

#endif
