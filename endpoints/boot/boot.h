/* The start-up text between a starter and a daemon that it started.
 *
 * The starter is the launcher or a daemon nearer to the root; the text goes
 * over the daemon's stdin and stdout: a pipe, or a remote shell's. Lines are
 * those of text/fields.h. The session key travels here, never on a
 * command line.
 *
 * A daemon that a resource manager starts gets the text up to `go` in its
 * environment (boot_env.h), the same for all daemons. What follows, both ways,
 * goes over a connection to its parent (call.h), who is its starter then.
 *
 * The lines are in boot_lines.c and, with what each says, in docs/protocol.md.
 * Down come `xylem-boot VERSION`, first, for a daemon must be of the same
 * version; the configuration; `go`, and then peers, any number, any time later.
 * Of the configuration any order is taken, but `tree` must come before
 * `children`, `hosted` and `host`. The end of the stream means that the
 * starter is gone or wants the daemon to leave.
 *
 * Up go lines of enum ep_boot_up_kind, each with a newline before it too, so
 * that what somebody else left on the line cannot swallow it.
 *
 * What a remote shell prints on its own before the first of these is skipped.
 */
#ifndef ENDPOINTS_BOOT_BOOT_H
#define ENDPOINTS_BOOT_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "endpoints/boot/boot_config.h"
#include "endpoints/fabric/auth.h"
#include "endpoints/fabric/transport.h"
#include "job/lines.h"
#include "text/fields.h"

enum {
    EP_BOOT_LINE_MAX = 1 << 20,   /* bytes of a line with its newline */
    EP_BOOT_TOTAL_MAX = 64 << 20, /* bytes up to `go` */
    EP_BOOT_VERSION_MAX = 64,
    EP_BOOT_TEXT_MAX = 4096 /* text of an error or note, with its NUL */
};

/* With this ends the text of an error about a daemon that had called. */
#define EP_BOOT_HUNG_UP "its connection has ended"

/* Adds the text from `xylem-boot` to `go`. Returns 0, OV_ENOMEM, or OV_EINVAL
 * when the configuration is not complete or too big, with `why`
 * (EP_BOOT_WHY_MAX bytes) filled; *out then holds nothing of it. */
int ep_boot_encode(const struct ep_boot_config *config, struct text_buf *out,
                   char *why);

/* Where a node listens. */
struct ep_boot_peer {
    uint32_t node;
    char address[EP_ADDR_MAX];
    uint8_t nonce[EP_AUTH_NONCE_BYTES];
};

/* Adds a `peer` line. Errors show in out->bad. */
void ep_boot_peer_encode(const struct ep_boot_peer *peer, struct text_buf *out);

struct ep_boot_down_events {
    /* `go` came. The callee may move the configuration out (and zero it);
     * what it leaves is freed with the reader. */
    void (*on_go)(void *arg, struct ep_boot_config *config);
    void (*on_peer)(void *arg, const struct ep_boot_peer *peer);
};

/* The daemon's side: reads what comes down, in pieces of any size. Memory:
 * one line and the configuration. */
struct ep_boot_reader {
    const struct ep_boot_down_events *events; /* borrowed */
    void *arg;
    const char *self; /* borrowed: path of this xylemd, for messages */
    const char *host; /* borrowed: what the resource manager calls this host;
                         NULL: `hosted` says which nodes are here */
    struct ep_boot_config config;
    struct text_buf line;
    uint64_t total_bytes;
    uint64_t lines;
    struct job_lines text;
    uint32_t nodes; /* of the tree, for peers after the config moved out */
    uint8_t state;
    int failed; /* the error that ended the reading, or 0 */
    char why[EP_BOOT_WHY_MAX];
};

void ep_boot_reader_init(struct ep_boot_reader *rd,
                         const struct ep_boot_down_events *events, void *arg,
                         const char *self);
void ep_boot_reader_fini(struct ep_boot_reader *rd);

/* Takes the next bytes. Returns 0, or OV_EPROTO (bad text, other version) or
 * OV_ENOMEM, with rd->why filled; every later call repeats the error. */
int ep_boot_reader_feed(struct ep_boot_reader *rd, const char *mem,
                        size_t len_bytes);

/* The stream ended. Returns 0 after `go`, else OV_ECLOSED with rd->why. */
int ep_boot_reader_end(struct ep_boot_reader *rd);

enum ep_boot_up_kind {
    EP_BOOT_READY, /* it listens; node: its first one */
    EP_BOOT_ERROR, /* it cannot do what it should */
    EP_BOOT_NOTE,  /* what it does, for --verbose, or one beneath it */
    EP_BOOT_PEER,  /* where a daemon beneath listens; before START */
    EP_BOOT_START, /* ssh: start the daemon of this node beneath, within that
                      time: no shell gets there from here, for this reason */
    EP_BOOT_UP_KINDS
};

/* One line upward. */
struct ep_boot_up {
    enum ep_boot_up_kind kind;
    char version[EP_BOOT_VERSION_MAX]; /* READY */
    struct ep_boot_peer peer;          /* READY, PEER; NOTE, START: its node */
    uint32_t time_ms;                  /* START */
    char text[EP_BOOT_TEXT_MAX];       /* ERROR, NOTE, START */
};

/* Adds the line. Errors show in out->bad. */
void ep_boot_up_encode(const struct ep_boot_up *up, struct text_buf *out);

/* Reads a line without its newline; overwrites it and the byte after it when
 * it begins with one of the keywords. Returns 0; OV_ENOENT for a line that is
 * none of ours (it is not changed); OV_EPROTO for one of ours that is not
 * well-formed. A READY of another version is well-formed with nothing but its
 * version filled. */
int ep_boot_up_decode(char *line, size_t len_bytes, struct ep_boot_up *up);

/* The field VERSION, printable; "" and fields->bad where it is not. */
void ep_boot_version_read(struct text_fields *fields,
                          char version[EP_BOOT_VERSION_MAX]);

/* The version of this build, and the words for a daemon at `path` (on `host`,
 * NULL: here) of version `daemon` with a starter of version `starter`. */
const char *ep_boot_version(void);
void ep_boot_version_words(const char *path, const char *host,
                           const char *daemon, const char *starter,
                           char why[EP_BOOT_WHY_MAX]);

#endif
