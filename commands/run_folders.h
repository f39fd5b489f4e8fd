/* The folders of PMIx servers that earlier sessions have left: a launcher and
 * its helpers that were killed together could not remove theirs. */
#ifndef COMMANDS_RUN_FOLDERS_H
#define COMMANDS_RUN_FOLDERS_H

/* Begins to remove them, in a thread of its own: TMPDIR may be slow. Returns
 * the mark for our own folder, by which a later session knows whose it was; ""
 * where /proc does not tell who we are: then nothing is removed either. */
const char *run_folders_open(void);
/* Waits until that is done; a second at most, where the file system does not
 * answer. Harmless when it was not begun. */
void run_folders_close(void);

#endif
