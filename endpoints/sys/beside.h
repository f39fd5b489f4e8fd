/* Finds files near the running program: the other programs of the package. */
#ifndef ENDPOINTS_SYS_BESIDE_H
#define ENDPOINTS_SYS_BESIDE_H

#include <stddef.h>

enum { EP_BESIDE_MAX = 1024 };

/* Writes the folder of the running program, with a slash at the end. Returns 0,
 * OV_ESYS (no /proc) or OV_EINVAL (longer than size_bytes); `dir` is "" after
 * an error. */
int ep_beside_folder(char *dir, size_t size_bytes);

/* Writes the path of the program `name` in the folder of the running program.
 * Returns what ep_beside_folder returns; `path` is undefined after an error. */
int ep_beside_path(const char *name, char *path, size_t size_bytes);

/* Finds the program `file`, which only some installations have. Its path is the
 * value of the environment's `variable`; without that it is searched beside the
 * running program, in `below` (its folder in a build tree), in
 * ../libexec/xylem, and where the package was installed. `path` has
 * EP_BESIDE_MAX bytes. Returns 0 or OV_ENOENT. */
int ep_beside_find(const char *file, const char *variable, const char *below,
                   char *path);

#endif
