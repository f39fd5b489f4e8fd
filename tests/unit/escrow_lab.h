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
    OUTPUTS = 2, /* how many output channels each process has: 1 and 2 */
    CHANNELS = PROCS * OUTPUTS,
    WORDS_MAX = 1 << 19, /* the most words of each channel */
    COOKIES = 32,
    CLIENTS = 3,
    WORD_BYTES = 8,
    SHOWN = 1, /* the word was shown on the console */
    READ = 2,  /* a client has read the word */
    HAD = 4,   /* a client has acknowledged the word */
};

struct back {
    struct job_route_back at; /* must be the first member */
    struct job_record rec;
    uint8_t *mem;
};

/* A line on its way through the console: a record, or output that was given
 * back. */
struct line {
    struct line *next;
    uint32_t cookie;
    struct back *back; /* NULL: the line is a record */
};

struct client {
    struct ep_escrow *escrow; /* NULL: there is no client */
    bool reads;
    uint8_t channels;
    uint32_t first, last;
    uint64_t sent, read, acknowledged; /* how many messages */
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
    uint32_t one_large_of; /* one of this many records is large */
    bool is_ordered;       /* no client reaches its limit, so the console's
                            * output is in order */
    bool is_looking;       /* a look at the waiting records is due */
    unsigned ends, behind, changes;
    uint64_t lost_bytes, twice_bytes;
    uint64_t seed;
};

/* The only lab. */
extern struct lab *lab;

uint32_t lab_random(uint32_t below);
/* Notes what happened to the words in these bytes. */
void lab_mark(const uint8_t *mem, uint32_t len_bytes, uint8_t what);
/* Opens a lab in which each client has this limit; random numbers come from the
 * seed. */
void lab_open(uint64_t limit_bytes, uint64_t seed, unsigned kept_blocks);
void lab_close(void);

/* lab_make() lets a process write a record; lab_write() lets the console write
 * its next line. */
void lab_make(void);
void lab_write(void);
/* Turns the loop once, and when a turn is due looks at the records that wait in
 * the route. */
void lab_turn(void);
/* Lets the console write everything; true: nothing is left. */
bool lab_is_quiet(const void *arg);

#endif
