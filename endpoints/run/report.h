/* The file of --report-uri: the address for tools, in one line.
 *
 * It takes the place of nothing but an empty file or what a former dvm has
 * left; that of one that lives is locked. A pipe, a terminal and the like are
 * written to, and so are stdout and stderr by any name; they stay.
 */
#ifndef ENDPOINTS_RUN_REPORT_H
#define ENDPOINTS_RUN_REPORT_H

struct event_base;
struct run_report;
struct run_voice;

/* Before any other descriptor is opened: can it be written to `path`? What a
 * former dvm has left goes, so that nobody who waits for the address reads it.
 * Both are borrowed. Returns 0, or the exit code when the user knows why. */
int ep_run_report_open(const char *path, struct run_voice *voice,
                       struct run_report **out);
/* Writes the address, whole or not at all; again when it has changed. A pipe
 * without a reader gets it when there is one. Where it cannot be written what
 * is there is as it was, and the user knows why, once. The base, of the first
 * call, is borrowed. Returns 0, or -1 when it never was written. */
int ep_run_report_put(struct run_report *report, struct event_base *base,
                      const char *uri);
/* Removes the file, if it is still the one that was written. NULL is allowed.
 */
void ep_run_report_close(struct run_report *report);

#endif
