/* A launcher whose route gives output to clients and takes it back, with a
 * console that writes at random. Records are made of words that say their
 * channel and place.
 */
#ifndef TESTS_UNIT_ESCROW_LAB_H
#define TESTS_UNIT_ESCROW_LAB_H

#include <stdbool.h>
#include <stdint.h>

#include "endpoints/client/escrow.h"
#include "job/record.h"
#include "job/route.h"
#include "tests/unit/rig.h"

enum {
    PROCS = 4,
    OUTPUTS = 2, /* of each process: channels 1 and 2 */
    CHANNELS = PROCS * OUTPUTS,
    WORDS_MAX = 1 << 19, /* of each channel */
    COOKIES = 32,
    CLIENTS = 3,
    WORD_BYTES = 8,
    SHOWN = 1, /* on the console */
    READ = 2,  /* by a client, */
    HAD = 4,   /* and acknowledged */
};

struct back {
    struct job_route_back at; /* first */
    struct job_record rec;
    uint8_t *mem;
};

/* On its way through the console: a record, or one that came back. */
struct line {
    struct line *next;
    uint32_t cookie;
    struct back *back; /* NULL: the record */
};

struct client {
    struct ep_escrow *escrow; /* NULL: it is not there */
    bool reads;
    uint8_t channels;
    uint32_t first, last;
    uint64_t sent, read, acknowledged; /* messages */
    uint8_t **words;                   /* of each message */
    uint32_t *words_count;
    uint64_t words_room;
};

struct lab {
    struct event_base *base;
    struct ep_writer *writer;
    struct ep_escrows *escrows;
    struct job_route *route;
    struct job_record records[COOKIES];
    bool is_used[COOKIES];
    struct line *lines, **lines_last;
    struct client clients[CLIENTS];
    uint32_t made[CHANNELS], shown_up_to[CHANNELS];
    uint8_t *state[CHANNELS]; /* [WORDS_MAX] */
    uint64_t limit_bytes;
    uint32_t one_large_of; /* so many records */
    bool is_ordered;       /* nobody falls behind: the console is in order */
    bool is_looking;       /* a turn is due */
    unsigned ends, behind, changes;
    uint64_t lost_bytes, twice_bytes;
    uint64_t seed;
};

/* The one that there is. */
extern struct lab *lab;

uint32_t lab_random(uint32_t below);
/* What becomes of these words. */
void lab_mark(const uint8_t *mem, uint32_t len_bytes, uint8_t what);
/* Limit of each client; what the random numbers begin with. */
void lab_open(uint64_t limit_bytes, uint64_t seed, unsigned kept_blocks);
void lab_close(void);

/* A process writes a record; the console the next line that it has. */
void lab_make(void);
void lab_write(void);
/* Once round the loop, and what waits in the route is looked at where a turn is
 * due. */
void lab_turn(void);
/* Writes all; true: nothing is left. */
bool lab_is_quiet(const void *arg);

#endif
