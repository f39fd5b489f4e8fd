/* The private folder of a PMIx server: what tools find it by lies there. */
#ifndef PMIX_API_FOLDER_H
#define PMIX_API_FOLDER_H

#include <stdbool.h>

enum { PX_PATH_MAX = 1024 };

/* A name for a folder below TMPDIR, or /tmp without one, that nobody else has
 * or can guess: xylem-pmix-MARK-NUMBER, or xylem-pmix-NUMBER where `mark`,
 * which says whose it is, is "". Tools look into both, and all that is beneath.
 * Returns 0, or OV_ESYS with errno when none can be made there; `path` has
 * PX_PATH_MAX bytes. */
int px_folder_name(const char *mark, char *path);

/* Has it such a name? */
bool px_folder_is_one(const char *path);

/* Makes it, with mode 0700: whoever is there to remove it. The library opens
 * the mode of the folder that it is given: give it one in here. Returns 0, or
 * OV_ESYS with errno. */
int px_folder_make(const char *path);

/* Where it makes one; borrowed. */
const char *px_folder_top(void);

/* Removes the files in it and in its folders, and then all of these. What is
 * not there any more is no error, nor is what cannot be removed. */
void px_folder_remove(const char *path);

/* Removes those below `top` of which is_gone, which is given what
 * follows xylem-pmix- in the name, says that nobody needs them: folders of our
 * own user, which nobody else may write to. All else stays, and so do symbolic
 * links and what they lead to. Reads all names that are there. */
void px_folder_sweep(const char *top, bool (*is_gone)(const char *mark));

#endif
