/* The private folder of a PMIx server: what tools find it by lies there. */
#ifndef PMIX_API_FOLDER_H
#define PMIX_API_FOLDER_H

#include <stddef.h>

enum { PX_PATH_MAX = 1024 };

/* A name for a folder below TMPDIR, or /tmp without one, that nobody else has
 * or can guess; it begins with xylem-pmix. Tools look into both, and all that
 * is beneath. Returns 0, or OV_ESYS with errno when none can be made there;
 * `path` has PX_PATH_MAX bytes. */
int px_folder_name(char *path);

/* Makes it, with mode 0700: whoever is there to remove it. The library opens
 * the mode of the folder that it is given: give it one in here. Returns 0, or
 * OV_ESYS with errno. */
int px_folder_make(const char *path);

/* Where it makes one; borrowed. */
const char *px_folder_top(void);

/* Removes the files in it and in its folders, and then all of these. What is
 * not there any more is no error, nor is what cannot be removed. */
void px_folder_remove(const char *path);

#endif
