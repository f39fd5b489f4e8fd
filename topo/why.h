/* Sentences that tell the user what is wrong and what to do. */
#ifndef TOPO_WHY_H
#define TOPO_WHY_H

#include <stddef.h>

enum { TOPO_WHY_MAX = 512 }; /* bytes of a sentence with its NUL */

/* Writes a sentence into why (TOPO_WHY_MAX bytes), cut off where it is too
 * long. With why NULL nothing is written. */
void topo_why(char *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* As topo_why, for a fault at byte at_bytes of text: writes the sentence
 * `what`, then where the fault is (counted from 1, with the text before it),
 * for example `the ']' is missing (character 9, after "node[1-4")`. */
void topo_why_at(char *why, const char *text, size_t at_bytes,
                 const char *what);

#endif
