/* How tools find a server: the text of libpmix's rendezvous files, and the
 * files.
 *
 * libpmix writes the text, in its own form. The first line is NAMESPACE.RANK;
 * and tcp4://ADDRESS:PORT, or tcp6:// with an address that may be in brackets;
 * the other lines are libpmix's affair. A process that listens in its place
 * gives tools the same text with another port, so that what a newer libpmix
 * adds stays in.
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
    /* The place of the digits of the port in the text. */
    uint32_t port_at, port_bytes;
};

/* Reads a text. Returns 0, or OV_EPROTO: the text is longer than
 * PX_CONTACT_BYTES_MAX, contains a NUL, or has a first line of another form.
 * *out is then undefined. O(length). */
int px_contact_parse(const char *text, size_t len_bytes,
                     struct px_contact *out);

/* The process that listens in place of libpmix. */
struct px_contact_move {
    uint16_t port;
    uint32_t pid; /* 0: keep the number in the text */
};

/* Writes the same text to `out`, but with another port and, where the third
 * line is a number, with another process there. Its length is *out_bytes.
 * Returns 0; OV_EPROTO as above; or OV_EFULL: it would be longer than
 * PX_CONTACT_BYTES_MAX, the size of `out`. */
int px_contact_move(const char *text, size_t len_bytes,
                    const struct px_contact_move *to, char *out,
                    size_t *out_bytes);

/* The names of the files, in a folder that only this server uses:
 * pmix.HOST.tool, and the same followed by a dot and each of these. */
struct px_contact_names {
    const char *folder, *host;
    const char *server;    /* the namespace of the server */
    uint32_t server_pid;   /* its process id */
    const char *job;       /* the namespace of the job that it serves */
    uint32_t launcher_pid; /* the process id of the launcher */
};

/* Makes all files, as links to a single file with mode 0640, which libpmix
 * uses, too. None can be seen before it is complete. Returns 0, or OV_ESYS with
 * errno, and then there is none of them; with EEXIST one was there before, and
 * is left alone. */
int px_contact_put(const struct px_contact_names *names, const char *text,
                   size_t len_bytes);

/* Removes the files. A file that is already gone is no error. */
void px_contact_remove(const struct px_contact_names *names);

#endif
