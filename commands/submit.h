/* `xylem run --dvm`: becomes the program xylem-submit. */
#ifndef COMMANDS_SUBMIT_H
#define COMMANDS_SUBMIT_H

/* Keeps the words as they are, before they are parsed. */
void submit_keep(int argc, char **argv);

/* Becomes xylem-submit, with the words that were kept. Returns an exit code,
 * after saying on stderr why it cannot. */
int submit_exec(void);

#endif
