/* Files that the user names: their kind is checked before they are opened, and
 * a caller that may have to wait for one does so under the prelude's clock.
 *
 * A regular file and a device are opened. A directory and a socket are refused
 * in words. A FIFO waits for its other end, as in a shell: for a writer as long
 * as it takes, for a reader EP_PATH_READER_MS.
 */
#ifndef ENDPOINTS_SYS_PATH_H
#define ENDPOINTS_SYS_PATH_H

enum { EP_PATH_READER_MS = 5000 };

/* Announces that the caller is about to open and read `path`, which `option`
 * has named; the caller calls ep_prelude_go_on() when it has read it. Returns
 * 0, even when there is no such file; or OV_EINVAL with `why` (EP_WHY_MAX
 * bytes). */
int ep_path_look(const char *option, const char *path, char *why);

/* Opens the file for reading. Returns 0, or OV_EINVAL or OV_ESYS with `why`. */
int ep_path_read(const char *option, const char *path, int *fd, char *why);

/* Opens what is there for writing, unless it is a regular file; then *fd is -1.
 * The descriptor does not block. Returns 0, or OV_EINVAL or OV_ESYS with
 * `why`. */
int ep_path_write(const char *option, const char *path, int *fd, char *why);

#endif
