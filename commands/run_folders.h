/* Removes folders of PMIx servers that earlier sessions have left: a launcher
 * that was killed together with its helpers could not remove its own. */
#ifndef COMMANDS_RUN_FOLDERS_H
#define COMMANDS_RUN_FOLDERS_H

/* Starts a thread that removes the folders of sessions that have ended; a
 * thread, because TMPDIR may be slow. Returns the mark for the folder of this
 * process, by which later sessions can tell whose folder it is. Returns "", and
 * removes nothing, when /proc does not say when this process started. */
const char *run_folders_open(void);
/* Waits until the thread is done, but at most a second, as the file system may
 * not respond. May be called when no thread was started. */
void run_folders_close(void);

#endif
