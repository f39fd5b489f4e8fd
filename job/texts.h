/* Texts, each of which is kept once, however many hold it.
 *
 * Pure, but for memory that it asks for. Finding and keeping a text costs
 * O(len_bytes), and one hash of it.
 */
#ifndef JOB_TEXTS_H
#define JOB_TEXTS_H

#include <stdint.h>

struct job_text {
    struct job_text *next; /* the next text of the same bucket */
    uint64_t hash;
    uint32_t len_bytes;
    uint32_t holds; /* how many hold it */
    /* For the owner of the table; NULL at first. */
    void *first, *last;
    uint8_t mem[];
};

/* All zero: there are no texts. */
struct job_texts {
    struct job_text **buckets; /* owned */
    uint32_t buckets_count;    /* a power of two, or 0 */
    uint32_t count;
    uint64_t bytes; /* memory of all texts */
};

/* Frees the table. Nobody may hold a text any longer. */
void job_texts_fini(struct job_texts *all);

/* Finds the text with these bytes, of which `hash` is the job_hash() with the
 * seed 0. Returns NULL when there is none. */
struct job_text *job_texts_find(const struct job_texts *all, const uint8_t *mem,
                                uint32_t len_bytes, uint64_t hash);

/* Holds the text with these bytes, which are copied where they are new. Returns
 * NULL when memory is out. */
struct job_text *job_texts_hold(struct job_texts *all, const uint8_t *mem,
                                uint32_t len_bytes, uint64_t hash);

/* Ends one hold; the last one frees the text. */
void job_texts_let_go(struct job_texts *all, struct job_text *text);

#endif
