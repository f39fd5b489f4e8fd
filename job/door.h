/* What a session and its clients say to each other at the session's door, a
 * socket of packets: one message each.
 *
 * A client says HELLO first, and hears WELCOME or REFUSED. The form of these
 * three is that of every version, so that two that differ can say so.
 *
 * The rows of a body are in door.c and, as a table, in docs/protocol.md.
 */
#ifndef JOB_DOOR_H
#define JOB_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/schema.h"
#include "overlay/base/wire.h"

enum {
    JOB_DOOR_VERSION = 1, /* of the messages behind the first three */
    JOB_DOOR_TEXT_MAX = 512,
    JOB_DOOR_BYTES_MAX = JOB_DOOR_TEXT_MAX + 16,
};

enum job_door_kind {
    JOB_DOOR_HELLO = 1, /* of the client */
    JOB_DOOR_WELCOME,   /* of the session */
    JOB_DOOR_REFUSED,   /* of the session, what the client asked for last */
    JOB_DOOR_STOP,      /* of the client: the dvm is to end */
    JOB_DOOR_ADDRESS,   /* of the client: where do PMIx tools connect? */
    JOB_DOOR_TOOLS,     /* of the session: there, and they can */
    JOB_DOOR_KINDS
};

struct job_door {
    uint8_t kind;      /* enum job_door_kind */
    uint32_t version;  /* HELLO: JOB_DOOR_VERSION of the client */
    bool is_dvm;       /* WELCOME */
    bool has_no_tools; /* WELCOME: PMIx tools can never connect to it */
    /* HELLO: the release of the client. WELCOME: the name of the session's own
     * job, or of the dvm. REFUSED: why, a sentence. TOOLS: the address. */
    char text[JOB_DOOR_TEXT_MAX];
};

/* Writes the message, of JOB_DOOR_BYTES_MAX bytes at most. */
void job_door_encode(struct ov_wr *wr, const struct job_door *msg);
/* Returns 0, or OV_EPROTO when it is no such message. */
int job_door_decode(struct ov_rd rd, struct job_door *msg);
/* The rows of its body. */
const struct job_schema_row *job_door_rows(unsigned kind);

#endif
