/* The folders of PMIx servers that earlier sessions have left: a launcher and
 * its helpers that were killed together could not remove their own. */
#ifndef COMMANDS_RUN_FOLDERS_H
#define COMMANDS_RUN_FOLDERS_H

/* Begins to remove them, in a thread, because TMPDIR may be slow. Returns the
 * mark for our own folder, by which a later session can tell whose folder it
 * was; "" where /proc does not tell who we are: then nothing is removed. */
const char *run_folders_open(void);
/* Waits until that is done, at most a second where the file system does not
 * respond. May be called when it was not begun. */
void run_folders_close(void);

#endif
