/* The rendezvous files of libpmix, by which tools find a server, and the text
 * in these files.
 *
 * libpmix writes the text, in its own form. The first line is NAMESPACE.RANK;
 * and tcp4://ADDRESS:PORT, or tcp6:// with an address that may be in brackets;
 * the other lines mean something to libpmix only. A process that listens in
 * place of libpmix gives tools the same text with another port, so that lines
 * that a newer libpmix adds are kept.
 */
#ifndef PMIX_API_CONTACT_H
#define PMIX_API_CONTACT_H

#include <stddef.h>
#include <stdint.h>

enum {
    PX_CONTACT_BYTES_MAX = 4096,  /* the most bytes of a text */
    PX_CONTACT_ADDRESS_BYTES = 46 /* size of the longest address, with its
                                     NUL */
};

/* Where a server listens. */
struct px_contact {
    char address[PX_CONTACT_ADDRESS_BYTES]; /* the address, without brackets */
    uint16_t port;
    /* Where the digits of the port are in the text, and how many they are. */
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
    uint32_t pid; /* replaces the pid in the text; 0: the text keeps its pid */
};

/* Writes the text to `out` with the port of `to` and, when the third line is a
 * number, with the pid of `to` in that line. *out_bytes becomes the length.
 * Returns 0; OV_EPROTO when the text is not valid; or OV_EFULL: the result
 * would be longer than PX_CONTACT_BYTES_MAX, the size of `out`. */
int px_contact_move(const char *text, size_t len_bytes,
                    const struct px_contact_move *to, char *out,
                    size_t *out_bytes);

/* What the names of the files are made from, in a folder that only this server
 * uses: one file is pmix.HOST.tool; each other name is that, a dot, and one of
 * the members after `host`. */
struct px_contact_names {
    const char *folder, *host;
    const char *server;    /* the namespace of the server */
    uint32_t server_pid;   /* the server's pid */
    const char *job;       /* the namespace of the job that it serves */
    uint32_t launcher_pid; /* the launcher's pid */
};

/* Makes all files, as hard links to a single file with mode 0640, as libpmix
 * does. A file appears only once it is complete. Returns 0; or OV_ESYS with
 * errno, and no file was made. With EEXIST a file of one of the names exists
 * already; it is not changed. */
int px_contact_put(const struct px_contact_names *names, const char *text,
                   size_t len_bytes);

/* Removes the files. A file that is already gone is no error. */
void px_contact_remove(const struct px_contact_names *names);

#endif
