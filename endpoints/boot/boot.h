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
 * Down, to the daemon, in this order:
 *
 *   xylem-boot VERSION      first; the daemon must be of the same version
 *   session HEX16           8 bytes, most significant first
 *   key HEX64
 *   tree NODES ARITY
 *   children EACH NODES     the next NODES nodes, from the root on, have EACH
 *                           children; any number. None: a complete tree
 *   launcher local|ssh|slurm
 *   hosted FIRST LAST       the overlay nodes this daemon hosts; once or more,
 *                           but not with slurm: it finds itself among `hosts`
 *   virtual                 these lines are there or not:
 *   no-tree-spawn
 *   verbose
 *   provider NAME
 *   interface NAME
 *   ports FIRST LAST
 *   rsh COMMAND
 *   xylemd PATH
 *   home PLACE.CGROUP       of the marks of virtual nodes (spawn/mark.h)
 *   env NAME=VALUE          for the fabric (ep_boot_env_is_fabric), any number
 *   param NAME VALUE        a number; at most EP_BOOT_PARAMS_MAX
 *   host NODE NAME          ascending: the hosts of the nodes beneath it
 *   hosts LIST              the same for all nodes from 1 on, in short
 *                           (topo/hosts.h), with slurm
 *   gate ADDRESS            where the launcher can be called, with slurm; once
 *                           or more, the best first
 *   go                      end of the configuration
 *   peer NODE ADDRESS NONCE any number, any time later: where an ancestor of
 *                           hosted nodes listens
 *
 * Between the first line and `go` any order is taken, but `tree` must come
 * before `children`, `hosted` and `host`. The end of the stream means that the
 * starter is gone or wants the daemon to leave.
 *
 * Up, to the starter; each line is sent with a newline before it too, so that
 * what somebody else left on the line cannot swallow it:
 *
 *   xylemd-ready VERSION NODE ADDRESS NONCE  it listens; NODE: its first one
 *   xylemd-error TEXT                        it cannot do what it should
 *   xylemd-note NODE TEXT                    what it does, for --verbose, or
 *                                            one beneath it, by its first node
 *   xylemd-peer NODE ADDRESS NONCE           where a daemon beneath listens;
 *                                            before `start`
 *   xylemd-start NODE MS TEXT                ssh: start the daemon of this node
 *                                            beneath, within that time: no
 * shell gets there from here, for this reason
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
    uint32_t nodes; /* of the tree, for peers after the config moved out */
    uint32_t seen;  /* bit per keyword that came */
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
    EP_BOOT_READY,
    EP_BOOT_ERROR,
    EP_BOOT_NOTE,
    EP_BOOT_PEER,
    EP_BOOT_START,
    EP_BOOT_UP_KINDS
};

/* One line upward. */
struct ep_boot_up {
    enum ep_boot_up_kind kind;
    char version[EP_BOOT_VERSION_MAX]; /* READY */
    struct ep_boot_peer peer;          /* READY, PEER; NOTE, START: its node */
    uint32_t time_ms;                  /* START */
    char text[EP_BOOT_TEXT_MAX];       /* ERROR, NOTE, START; cut when longer */
};

/* Add one line. Errors show in out->bad. */
void ep_boot_ready_encode(const struct ep_boot_peer *self,
                          struct text_buf *out);
void ep_boot_error_encode(const char *words, struct text_buf *out);
void ep_boot_note_encode(uint32_t node, const char *words,
                         struct text_buf *out);
void ep_boot_beneath_encode(const struct ep_boot_peer *peer,
                            struct text_buf *out);
void ep_boot_start_encode(uint32_t node, uint32_t time_ms, const char *words,
                          struct text_buf *out);

/* Reads a line without its newline; overwrites it and the byte after it when
 * it begins with one of the keywords. Returns 0; OV_ENOENT for a line that is
 * none of ours (it is not changed); OV_EPROTO for one of ours that is not
 * well-formed. A READY of another version is well-formed with nothing but its
 * version filled. */
int ep_boot_up_decode(char *line, size_t len_bytes, struct ep_boot_up *up);

/* The field VERSION, printable, and the fields NODE ADDRESS NONCE of a line;
 * fields->bad is set on a bad one. */
void ep_boot_version_read(struct text_fields *fields,
                          char version[EP_BOOT_VERSION_MAX]);
void ep_boot_peer_read(struct text_fields *fields, struct ep_boot_peer *peer);

/* "local", "ssh", "slurm". */
const char *ep_boot_launcher_name(enum ep_launcher launcher);

/* The version of this build, and the words for a daemon at `path` (on `host`,
 * NULL: here) of version `daemon` with a starter of version `starter`. */
const char *ep_boot_version(void);
void ep_boot_version_words(const char *path, const char *host,
                           const char *daemon, const char *starter,
                           char why[EP_BOOT_WHY_MAX]);

#endif
