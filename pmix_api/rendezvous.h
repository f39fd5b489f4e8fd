/* The file by which a tool that has started the launcher finds its server. */
#ifndef PMIX_API_RENDEZVOUS_H
#define PMIX_API_RENDEZVOUS_H

/* The path that PMIX_LAUNCHER_RNDZ_FILE, or OpenPMIx's own
 * PMIX_LAUNCHER_RENDEZVOUS_FILE, names in our environment; NULL: none. */
const char *px_rendezvous_path(void);

/* Copies `from`, the server's own file, to `path`: whole or not at all, mode
 * 0600. Returns 0, or OV_ESYS with errno: EEXIST when something is there, which
 * is left alone. */
int px_rendezvous_put(const char *from, const char *path);

#endif
