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
    SHOWN = 1, /* was shown on the console */
    READ = 2,  /* was read by a client, */
    HAD = 4,   /* and acknowledged */
};

struct back {
    struct job_route_back at; /* must be first */
    struct job_record rec;
    uint8_t *mem;
};

/* What is on its way through the console: a record, or output that came
 * back. */
struct line {
    struct line *next;
    uint32_t cookie;
    struct back *back; /* NULL: it is a record */
};

struct client {
    struct ep_escrow *escrow; /* NULL: no client */
    bool reads;
    uint8_t channels;
    uint32_t first, last;
    uint64_t sent, read, acknowledged; /* messages */
    uint8_t **words;                   /* the words of each message */
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
    uint32_t one_large_of; /* one record in so many is large */
    bool is_ordered;       /* no client falls behind: the console is in order */
    bool is_looking;       /* a turn is due */
    unsigned ends, behind, changes;
    uint64_t lost_bytes, twice_bytes;
    uint64_t seed;
};

/* The only lab. */
extern struct lab *lab;

uint32_t lab_random(uint32_t below);
/* Notes what happened to these words. */
void lab_mark(const uint8_t *mem, uint32_t len_bytes, uint8_t what);
/* Opens a lab with this limit for each client and this seed. */
void lab_open(uint64_t limit_bytes, uint64_t seed, unsigned kept_blocks);
void lab_close(void);

/* The first has a process write a record, the second has the console write the
 * next line that it has. */
void lab_make(void);
void lab_write(void);
/* Turns the loop once, and looks at what waits in the route when a turn is
 * due. */
void lab_turn(void);
/* Writes all; true: nothing is left. */
bool lab_is_quiet(const void *arg);

#endif
