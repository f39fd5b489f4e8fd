/* The start-up text between a starter and a daemon that it started.
 *
 * The starter is the launcher or a daemon nearer to the root. The text goes
 * over the daemon's stdin and stdout, which are a pipe or those of a remote
 * shell. Lines are those of text/fields.h. The session key travels in this
 * text, never on a command line.
 *
 * A daemon that a resource manager starts gets the text up to `go` in its
 * environment (boot_env.h), where it is the same for all daemons. What follows,
 * in both directions, goes over a connection to the daemon's parent (call.h),
 * which is its starter from then on.
 *
 * The lines are in boot_lines.c; docs/protocol.md says what each means. These
 * go down, from the starter to the daemon: `xylem-boot VERSION`, first, as a
 * daemon must be of the same version; the configuration; `go`; and then
 * addresses of peers, any number, at any time. The lines of the configuration
 * may come in any order, but `tree` must come before `children`, `hosted` and
 * `host`. The end of the stream means that the starter has ended or wants the
 * daemon to leave.
 *
 * Lines of enum ep_boot_up_kind go up. Each has a newline before it, too, so
 * that unfinished output of other programs cannot swallow it. The starter skips
 * what a remote shell prints before the first of these lines.
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
    EP_BOOT_LINE_MAX = 1 << 20,   /* most bytes of a line with its newline */
    EP_BOOT_TOTAL_MAX = 64 << 20, /* most bytes of all lines up to `go` */
    EP_BOOT_VERSION_MAX = 64,
    /* most bytes of the text of an error or note, with its NUL */
    EP_BOOT_TEXT_MAX = 4096
};

/* The last words of an error about a daemon that had connected before. */
#define EP_BOOT_HUNG_UP "its connection has ended"

/* Adds the lines from `xylem-boot` to `go`. Returns 0, OV_ENOMEM, or OV_EINVAL
 * when the configuration is incomplete or too big, with `why` (EP_BOOT_WHY_MAX
 * bytes) filled; nothing is added to *out then. */
int ep_boot_encode(const struct ep_boot_config *config, struct text_buf *out,
                   char *why);

/* The address at which a node listens. */
struct ep_boot_peer {
    uint32_t node;
    char address[EP_ADDR_MAX];
    uint8_t nonce[EP_AUTH_NONCE_BYTES];
};

/* Adds a `peer` line to *out. Errors show in out->bad. */
void ep_boot_peer_encode(const struct ep_boot_peer *peer, struct text_buf *out);

struct ep_boot_down_events {
    /* `go` was read. The callback may move the configuration out (and zero it);
     * what it leaves is freed with the reader. */
    void (*on_go)(void *arg, struct ep_boot_config *config);
    void (*on_peer)(void *arg, const struct ep_boot_peer *peer);
};

/* Reads the lines that go down, on the daemon's side, in pieces of any size.
 * Memory: one line and the configuration. */
struct ep_boot_reader {
    const struct ep_boot_down_events *events; /* borrowed */
    void *arg;
    const char *self; /* borrowed: path of this xylemd, for messages */
    /* Borrowed: the resource manager's name of this host; NULL when `hosted`
     * lines say which nodes are here. */
    const char *host;
    struct ep_boot_config config;
    struct text_buf line;
    uint64_t total_bytes;
    uint64_t lines;
    struct job_lines text;
    /* The number of nodes of the tree, to check peers that come after the
     * configuration. */
    uint32_t nodes;
    uint8_t state;
    int failed; /* the error that ended the reading; 0: none */
    char why[EP_BOOT_WHY_MAX];
};

void ep_boot_reader_init(struct ep_boot_reader *rd,
                         const struct ep_boot_down_events *events, void *arg,
                         const char *self);
void ep_boot_reader_fini(struct ep_boot_reader *rd);

/* Reads the next bytes. Returns 0, or OV_EPROTO (bad text, other version) or
 * OV_ENOMEM, with rd->why filled; every later call returns the same error. */
int ep_boot_reader_feed(struct ep_boot_reader *rd, const char *mem,
                        size_t len_bytes);

/* Says that the stream has ended. Returns 0 if `go` was read before, else
 * OV_ECLOSED with rd->why. */
int ep_boot_reader_end(struct ep_boot_reader *rd);

enum ep_boot_up_kind {
    EP_BOOT_READY, /* the daemon listens; `node` is its first node */
    EP_BOOT_ERROR, /* the daemon cannot do what it should */
    EP_BOOT_NOTE,  /* what this daemon, or one beneath it, is doing; shown with
                    * --verbose */
    EP_BOOT_PEER, /* the address of a daemon beneath this one; sent before START
                   */
    /* Asks the starter to start the daemon of this node, which is beneath the
     * one that asks, within time_ms: no ssh from there reaches the node, for
     * the reason in `text`. */
    EP_BOOT_START,
    EP_BOOT_UP_KINDS
};

/* One line that goes up, to the starter. Each member names the kinds that use
 * it. */
struct ep_boot_up {
    enum ep_boot_up_kind kind;
    char version[EP_BOOT_VERSION_MAX]; /* READY: the daemon's version */
    struct ep_boot_peer peer;    /* READY, PEER: the peer; NOTE, START: only the
                                  * node in it */
    uint32_t time_ms;            /* START: how much time the start may take */
    char text[EP_BOOT_TEXT_MAX]; /* ERROR, NOTE, START: the text */
};

/* Adds the line to *out. Errors show in out->bad. */
void ep_boot_up_encode(const struct ep_boot_up *up, struct text_buf *out);

/* Decodes a line without its newline. When the line begins with one of the
 * keywords, the line and the byte after it are overwritten. Returns 0;
 * OV_ENOENT for a line that is not part of the protocol (the line is not
 * changed); OV_EPROTO for a line of the protocol that is not well-formed. A
 * READY of another version is well-formed, and only up->version is then
 * filled. */
int ep_boot_up_decode(char *line, size_t len_bytes, struct ep_boot_up *up);

/* Reads the field VERSION, which must be printable. If it is not, the result is
 * "" and fields->bad is set. */
void ep_boot_version_read(struct text_fields *fields,
                          char version[EP_BOOT_VERSION_MAX]);

/* The first returns the version of this build. The second writes into `why`
 * that the daemon at `path` on `host` (NULL: this host) has version `daemon`
 * while its starter has version `starter`. */
const char *ep_boot_version(void);
void ep_boot_version_words(const char *path, const char *host,
                           const char *daemon, const char *starter,
                           char why[EP_BOOT_WHY_MAX]);

#endif
