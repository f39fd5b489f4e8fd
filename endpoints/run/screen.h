/* Where the launcher may draw rows: on a terminal where nothing but this run is
 * seen. */
#ifndef ENDPOINTS_RUN_SCREEN_H
#define ENDPOINTS_RUN_SCREEN_H

/* Returns a bit (1 << channel) for stdout and stderr each, if it is that
 * terminal; 0: there is none. The other one is then a file. A pipe may lead to
 * a program that writes to the terminal, and a shell that has started this run
 * in the background of a script, for which it ignores SIGINT, does so. */
unsigned ep_run_screen(void);

#endif
