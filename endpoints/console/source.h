/* Sources (a process and a channel each) with an unfinished line, in a table.
 *
 * A source is in the table only while the last byte received from it is not a
 * newline, or while pieces of such a line wait. Other sources cost nothing, so
 * the table grows with the number of open lines, not of processes.
 */
#ifndef ENDPOINTS_CONSOLE_SOURCE_H
#define ENDPOINTS_CONSOLE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct ep_item;

struct ep_source {
    struct ep_source *next; /* next source of the same bucket */
    struct ep_item *first;  /* borrowed: its waiting pieces, in order */
    struct ep_item *last;
    uint32_t proc;
    uint32_t rank; /* its rank in its job, for messages to the user */
    uint8_t channel;
    /* the last record received from it left its line unfinished */
    bool is_open;
};

/* All zero: the table is empty. */
struct ep_sources {
    struct ep_source **buckets; /* owned */
    uint32_t buckets_count;     /* a power of two, or 0 */
    uint32_t count;
};

void ep_sources_fini(struct ep_sources *all);

/* Finds a source, or returns NULL. O(1). */
struct ep_source *ep_source_find(const struct ep_sources *all, uint32_t proc,
                                 uint8_t channel);

/* Adds a source, which must not be in the table; returns NULL when memory is
 * out. */
struct ep_source *ep_source_add(struct ep_sources *all, uint32_t proc,
                                uint8_t channel);

void ep_source_remove(struct ep_sources *all, struct ep_source *source);

#endif
