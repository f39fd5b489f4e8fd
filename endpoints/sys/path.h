/* Files that the user names: what they are is looked at before they are opened,
 * and who may have to wait at one does so under the prelude's clock.
 *
 * A regular file and a device are opened. A directory and a socket are refused
 * in words. A FIFO waits for its other end, as in a shell: somebody who writes
 * for as long as it takes, somebody who reads for EP_PATH_READER_MS.
 */
#ifndef ENDPOINTS_SYS_PATH_H
#define ENDPOINTS_SYS_PATH_H

enum { EP_PATH_READER_MS = 5000 };

/* `path`, which `option` has named, is about to be opened and read: by the
 * caller, who calls ep_prelude_go_on() when it is read. Returns 0, also where
 * it is not there; or OV_EINVAL with `why` (EP_WHY_MAX bytes). */
int ep_path_look(const char *option, const char *path, char *why);

/* Opens it for reading. Returns 0, or OV_EINVAL or OV_ESYS with `why`. */
int ep_path_read(const char *option, const char *path, int *fd, char *why);

/* Opens what is there for writing, where it is no regular file; else *fd is -1.
 * The descriptor does not block. Returns 0, or OV_EINVAL or OV_ESYS with
 * `why`. */
int ep_path_write(const char *option, const char *path, int *fd, char *why);

#endif
