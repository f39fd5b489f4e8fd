/* Finds what lies beside the running program: the other programs of the
 * package. */
#ifndef ENDPOINTS_SYS_BESIDE_H
#define ENDPOINTS_SYS_BESIDE_H

#include <stddef.h>

enum { EP_BESIDE_MAX = 1024 };

/* The folder of the running program, with a slash at the end. Returns 0,
 * OV_ESYS (no /proc) or OV_EINVAL (longer than size_bytes); `dir` is "" after
 * an error. */
int ep_beside_folder(char *dir, size_t size_bytes);

/* The path of the program `name` in that folder. Returns the same; `path` is
 * undefined after an error. */
int ep_beside_path(const char *name, char *path, size_t size_bytes);

/* Finds the program `file`, which only some installations have: the path in the
 * environment's `variable`, or else beside the running program, in
 * ../libexec/xylem, or where the package was installed; `below` is its folder
 * in a build tree. `path` has EP_BESIDE_MAX bytes. Returns 0 or OV_ENOENT. */
int ep_beside_find(const char *file, const char *variable, const char *below,
                   char *path);

#endif
