/* The file by which a tool that has started the launcher finds its server. */
#ifndef PMIX_API_RENDEZVOUS_H
#define PMIX_API_RENDEZVOUS_H

#include <sys/stat.h>

/* The path that PMIX_LAUNCHER_RNDZ_FILE, or OpenPMIx's own
 * PMIX_LAUNCHER_RENDEZVOUS_FILE, names in our environment; NULL: none. */
const char *px_rendezvous_path(void);

/* Copies `from`, the server's own file, to `path`: whole or not at all, mode
 * 0600. Returns 0, and *st is that of the file; or OV_ESYS with errno: EEXIST
 * when something is there that is not of a server that is dead; that is left
 * alone. */
int px_rendezvous_put(const char *from, const char *path, struct stat *st);
/* Removes it, if it is still that file. */
void px_rendezvous_remove(const char *path, const struct stat *own);

#endif
