/* The file by which a tool that has started the launcher finds its server. */
#ifndef PMIX_API_RENDEZVOUS_H
#define PMIX_API_RENDEZVOUS_H

#include <stddef.h>
#include <sys/stat.h>

/* The path in the environment variable PMIX_LAUNCHER_RNDZ_FILE, or in
 * OpenPMIx's own PMIX_LAUNCHER_RENDEZVOUS_FILE; NULL when neither is set. */
const char *px_rendezvous_path(void);

/* Makes a new file of these bytes, mode 0600. `path` ends in XXXXXX, which is
 * replaced so that the name is new. Returns 0; or OV_ESYS with errno, and there
 * is no file. */
int px_rendezvous_write(char *path, const char *mem, size_t len_bytes);

/* Copies `from`, the server's own file, to `path`: whole or not at all, mode
 * 0600. Returns 0, and *st describes the file; or OV_ESYS with errno. With
 *       EEXIST another file exists at `path` that is not the file of a dead
 *       server; it is not changed. */
int px_rendezvous_put(const char *from, const char *path, struct stat *st);
/* Removes the file, if it is still the one that `own` describes. */
void px_rendezvous_remove(const char *path, const struct stat *own);

#endif
