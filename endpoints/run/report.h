/* The file of --report-uri, with the address for tools in one line.
 *
 * The file replaces only an empty file or one that a former dvm has left; the
 * file of a dvm that lives is locked. A pipe, a terminal and the like are
 * written to and stay, and so are stdout and stderr by any name.
 */
#ifndef ENDPOINTS_RUN_REPORT_H
#define ENDPOINTS_RUN_REPORT_H

struct event_base;
struct run_report;
struct run_voice;

/* Checks whether `path` can be written, before any other descriptor is opened.
 * Removes what a former dvm has left, so that no program that waits for the
 * address reads the old one. Both arguments are borrowed. Returns 0, or the
 * exit code after telling the user why. */
int ep_run_report_open(const char *path, struct run_voice *voice,
                       struct run_report **out);
/* Writes the address, whole or not at all; again when it has changed. A pipe
 * without a reader gets it when a reader comes. When it cannot be written, what
 * was there stays, and the user is told why, once. The base of the first call
 * is borrowed. Returns 0, or -1 when it was never written. */
int ep_run_report_put(struct run_report *report, struct event_base *base,
                      const char *uri);
/* Removes the file if it is still the one that was written. NULL is allowed. */
void ep_run_report_close(struct run_report *report);

#endif
