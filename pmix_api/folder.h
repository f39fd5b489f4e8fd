/* The private folder of a PMIx server, which holds the files by which tools
 * find it. */
#ifndef PMIX_API_FOLDER_H
#define PMIX_API_FOLDER_H

#include <stdbool.h>

enum { PX_PATH_MAX = 1024 };

/* Makes up a name for a folder in TMPDIR, or in /tmp without that, which does
 * not exist and cannot be guessed: xylem-pmix-MARK-NUMBER, or xylem-pmix-NUMBER
 * when `mark`, which says whose folder it is, is "". Tools look into all
 * folders there. Returns 0, or OV_ESYS with errno when no folder can be made
 * there; `path` has PX_PATH_MAX bytes. */
int px_folder_name(const char *mark, char *path);

/* True when the path ends in such a name. */
bool px_folder_is_one(const char *path);

/* Makes the folder, with mode 0700; the caller sees to its removal. The library
 * widens the mode of a folder that it is given, so give it one inside this one.
 * Returns 0, or OV_ESYS with errno. */
int px_folder_make(const char *path);

/* The folder in which px_folder_name() places it; borrowed. */
const char *px_folder_top(void);

/* Removes the folder with all files and folders in it. What is already gone is
 * no error, nor is what cannot be removed. */
void px_folder_remove(const char *path);

/* Removes those folders in `top` that is_gone says are not needed. It is called
 * with what follows xylem-pmix- in a name. Only folders of our own user that no
 * other user may write to are removed. All else stays, as do symbolic links and
 * what they lead to. Reads all names in `top`. */
void px_folder_sweep(const char *top, bool (*is_gone)(const char *mark));

#endif
