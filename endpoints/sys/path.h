/* Opens files that the user names: their kind is checked first, and a caller
 * that may have to wait for one has the prelude show that and end the wait.
 *
 * A regular file and a device are opened. A directory and a socket are refused
 * with a message. Opening a FIFO waits for its other end, as in a shell:
 * without limit for a writer, EP_PATH_READER_MS for a reader.
 */
#ifndef ENDPOINTS_SYS_PATH_H
#define ENDPOINTS_SYS_PATH_H

enum { EP_PATH_READER_MS = 5000 };

/* Has the prelude show that the caller is about to open and read `path`, which
 * the user has given with `option`; the caller calls ep_prelude_go_on() when it
 * has read the file. Returns 0, even when there is no such file; or OV_EINVAL
 * with `why` (EP_WHY_MAX bytes). */
int ep_path_look(const char *option, const char *path, char *why);

/* Opens the file for reading. Returns 0, or OV_EINVAL or OV_ESYS with `why`. */
int ep_path_read(const char *option, const char *path, int *fd, char *why);

/* Opens a FIFO or a device for writing, without blocking writes. When `path` is
 * a regular file or nothing, *fd is -1. Returns 0, or OV_EINVAL or OV_ESYS with
 * `why`. */
int ep_path_write(const char *option, const char *path, int *fd, char *why);

#endif
