/* Finds the word that a user may have meant. */
#ifndef COMMANDS_SIMILAR_H
#define COMMANDS_SIMILAR_H

#include <stddef.h>

/* A search for the word most like another one. */
struct similar {
    const char *word; /* what the user wrote; borrowed, `len` bytes */
    size_t len;
    const char *best;  /* borrowed; NULL: no word is like it */
    unsigned distance; /* the number of edits from `word` to `best` */
};

/* Begins a search. */
void similar_init(struct similar *similar, const char *word, size_t len);

/* Offers a word; does nothing with NULL. The word becomes `best` when fewer
 * edits lead to it than to all before, and few enough for the length of the
 * user's word. An edit inserts, removes or replaces a letter, or swaps two
 * neighbours. */
void similar_offer(struct similar *similar, const char *word);

#endif
