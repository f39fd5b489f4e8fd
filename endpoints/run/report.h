/* The file of --report-uri, which has the address for PMIx tools in one line.
 *
 * An empty file, or one that a former dvm has left, is replaced; any other file
 * is an error. A dvm that lives keeps its file locked. When the path is a pipe,
 * a terminal or the like, or any name of stdout or stderr, the address is
 * written to it, and the dvm does not remove it.
 */
#ifndef ENDPOINTS_RUN_REPORT_H
#define ENDPOINTS_RUN_REPORT_H

struct event_base;
struct run_report;
struct run_voice;

/* Checks whether `path` can be written; must be called before any other
 * descriptor is opened. Removes the file of a former dvm, so that no program
 * that waits for the address reads the old one. Both arguments are borrowed.
 * Returns 0, or the exit code after telling the user why. */
int ep_run_report_open(const char *path, struct run_voice *voice,
                       struct run_report **out);
/* Writes the address, whole or not at all; to be called again when the address
 * has changed. When `path` is a pipe without a reader, the address is written
 * as soon as there is one. When writing fails, the former contents stay, and
 * the user is told why, once. The base of the first call is borrowed. Returns
 * 0, or -1 when no address was ever written. */
int ep_run_report_put(struct run_report *report, struct event_base *base,
                      const char *uri);
/* Removes the file, unless another file has replaced it. NULL is allowed. */
void ep_run_report_close(struct run_report *report);

#endif
