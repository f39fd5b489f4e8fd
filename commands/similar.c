/* Counts the edits that lead from one word to another. */
#include "commands/similar.h"

#include <limits.h>
#include <string.h>

enum { LETTERS_MAX = 32 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Counts the edits (the distance of Damerau and Levenshtein, where no letter is
 * edited twice). at[i][j] is the distance of the first i letters of a and the
 * first j letters of b. */
static unsigned count_edits(const char *a, size_t a_len, const char *b,
                            size_t b_len)
{
    unsigned at[LETTERS_MAX + 1][LETTERS_MAX + 1];

    for (unsigned i = 0; i <= a_len; i++)
        at[i][0] = i;
    for (unsigned j = 0; j <= b_len; j++)
        at[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        for (size_t j = 1; j <= b_len; j++) {
            at[i][j] = at[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            at[i][j] = least(at[i][j], at[i - 1][j] + 1);
            at[i][j] = least(at[i][j], at[i][j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                at[i][j] = least(at[i][j], at[i - 2][j - 2] + 1);
        }
    }
    return at[a_len][b_len];
}

void similar_init(struct similar *similar, const char *word, size_t len)
{
    *similar = (struct similar){.word = word, .len = len};
}

void similar_offer(struct similar *similar, const char *word)
{
    const unsigned most = 1 + (unsigned)similar->len / 5;
    unsigned distance;

    if (word == NULL || strlen(word) > LETTERS_MAX ||
        similar->len > LETTERS_MAX || similar->len < 2)
        return;
    distance = count_edits(similar->word, similar->len, word, strlen(word));
    if (distance > most ||
        (similar->best != NULL && distance >= similar->distance))
        return;
    similar->best = word;
    similar->distance = distance;
}
