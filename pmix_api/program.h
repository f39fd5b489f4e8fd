/* Where the programs are that hold libpmix: xylem itself is not linked with
 * it. */
#ifndef PMIX_API_PROGRAM_H
#define PMIX_API_PROGRAM_H

enum { PX_PROGRAM_MAX = 1024 };

/* Finds the program `file`: the path that the environment's `variable` has, or
 * beside the running program, in ../libexec/xylem, or where the package was
 * installed; `below` is its folder in a build tree. `path` has PX_PROGRAM_MAX
 * bytes. Returns 0 or OV_ENOENT. */
int px_program_find(const char *file, const char *variable, const char *below,
                    char *path);

#endif
