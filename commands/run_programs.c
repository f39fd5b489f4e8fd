/* Several programs: a `:' between their words. */
#include "commands/run_programs.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

char **run_programs_colon(char **word)
{
    while (*word != NULL && strcmp(*word, ":") != 0)
        word++;
    return *word != NULL ? word : NULL;
}

char **run_programs_words(char **head, char **rest, int *argc)
{
    size_t count = 0;
    char **words;

    while (rest[count] != NULL)
        count++;
    words = calloc(count + 3, sizeof(*words));
    if (words == NULL)
        return NULL;
    memcpy(words, head, 2 * sizeof(*words));
    memcpy(words + 2, rest, count * sizeof(*words));
    *argc = (int)count + 2;
    return words;
}
