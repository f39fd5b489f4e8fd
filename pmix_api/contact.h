/* What tools find a server by: the text of libpmix's rendezvous files, and the
 * files.
 *
 * libpmix writes the text, in its own form: in the first line NAMESPACE.RANK;
 * and tcp4://ADDRESS:PORT, or tcp6:// with an address that is in brackets or
 * not, then lines that only it knows. Whoever listens in its place gives tools
 * the same text with another port, so that what a newer libpmix adds is there.
 */
#ifndef PMIX_API_CONTACT_H
#define PMIX_API_CONTACT_H

#include <stddef.h>
#include <stdint.h>

enum {
    PX_CONTACT_BYTES_MAX = 4096,  /* of a text */
    PX_CONTACT_ADDRESS_BYTES = 46 /* of the longest address, with its NUL */
};

/* Where a server listens. */
struct px_contact {
    char address[PX_CONTACT_ADDRESS_BYTES]; /* without brackets */
    uint16_t port;
    uint32_t port_at, port_bytes; /* where its digits are in the text */
};

/* Returns 0, or OV_EPROTO: the text is longer than PX_CONTACT_BYTES_MAX, has a
 * NUL in it, or a first line of another form. *out is then undefined.
 * O(length). */
int px_contact_parse(const char *text, size_t len_bytes,
                     struct px_contact *out);

/* The process that listens in the place of libpmix. */
struct px_contact_move {
    uint16_t port;
    uint32_t pid; /* 0: it stays as it is */
};

/* Writes the same text with another port to `out`, and with another process in
 * its third line, where that is a number; all else byte for byte. Its length is
 * *out_bytes. Returns 0; OV_EPROTO as above; or OV_EFULL: it would be longer
 * than PX_CONTACT_BYTES_MAX, which is what `out` holds. */
int px_contact_move(const char *text, size_t len_bytes,
                    const struct px_contact_move *to, char *out,
                    size_t *out_bytes);

/* The names of the files, in a folder that is one server's alone:
 * pmix.HOST.tool, and the same with each of these behind a dot. */
struct px_contact_names {
    const char *folder, *host;
    const char *server;    /* its namespace, */
    uint32_t server_pid;   /* and its number; */
    const char *job;       /* the namespace of the job that it is for, */
    uint32_t launcher_pid; /* and the launcher's number */
};

/* Makes all of them, as one file with the mode of libpmix's own, 0640: none can
 * be seen before it is whole. Returns 0, or OV_ESYS with errno, and then there
 * is none; EEXIST: there was one, which is left alone. */
int px_contact_put(const struct px_contact_names *names, const char *text,
                   size_t len_bytes);

/* Removes them. What is not there any more is no error. */
void px_contact_remove(const struct px_contact_names *names);

#endif
