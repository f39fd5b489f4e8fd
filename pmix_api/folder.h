/* The private folder of a PMIx server, which holds the files by which tools
 * find it. */
#ifndef PMIX_API_FOLDER_H
#define PMIX_API_FOLDER_H

#include <stdbool.h>

enum { PX_PATH_MAX = 1024 };

/* Makes up a name for a folder in TMPDIR, or in /tmp without that, which does
 * not exist and cannot be guessed: xylem-pmix-MARK-NUMBER, or xylem-pmix-NUMBER
 * when `mark` is "". The mark identifies the process that owns the folder. PMIx
 * tools look for servers in all folders of TMPDIR. Returns 0, or OV_ESYS with
 * errno when no folder can be made there; `path` has PX_PATH_MAX bytes. */
int px_folder_name(const char *mark, char *path);

/* True when the path ends in a name as px_folder_name() makes it. */
bool px_folder_is_one(const char *path);

/* Makes the folder, with mode 0700; the caller must remove it. libpmix gives
 * more users access to the folder that it uses, so let it use a folder inside
 * this one. Returns 0, or OV_ESYS with errno. */
int px_folder_make(const char *path);

/* The folder in which the names of px_folder_name() are; borrowed. */
const char *px_folder_top(void);

/* Removes the folder with all files and folders in it. Files that are already
 * gone, or cannot be removed, are no error. */
void px_folder_remove(const char *path);

/* Removes the folders xylem-pmix-* in `top` for which is_gone() returns true;
 * its argument is what follows xylem-pmix- in the name. Only folders of our own
 * user that no other user may write to are removed; symbolic links are not
 * followed. Reads all names in `top`. */
void px_folder_sweep(const char *top, bool (*is_gone)(const char *mark));

#endif
