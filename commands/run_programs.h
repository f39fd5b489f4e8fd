/* The words of a command line with several programs, A : B. */
#ifndef COMMANDS_RUN_PROGRAMS_H
#define COMMANDS_RUN_PROGRAMS_H

/* The first word `:' from this one on, or NULL. */
char **run_programs_colon(char **word);

/* The words of the next program (ended by NULL) as a command line of its own,
 * which begins with the first two words of `head'. *argc becomes its length.
 * The memory is the caller's for good, as options point to it; NULL: there is
 * none. The words themselves stay borrowed. */
char **run_programs_words(char **head, char **rest, int *argc);

#endif
