/* Splits a text into words, one character after the other. */
#include "commands/shell_words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The text that is read, and the memory for the words. */
struct splitting {
    const char *from;
    char *to;
    const char *fault;
};

static bool is_blank(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\n';
}

/* Reads up to the end of '...'; `from` is after the first quote. */
static void read_single(struct splitting *s)
{
    while (*s->from != '\'' && *s->from != '\0')
        *s->to++ = *s->from++;
    if (*s->from++ == '\0')
        s->fault = "a ' is not closed by a second one";
}

/* Reads up to the end of "..."; `from` is after the first quote. */
static void read_double(struct splitting *s)
{
    for (; *s->from != '"' && *s->from != '\0'; s->from++) {
        if (*s->from == '\\' && s->from[1] != '\0' &&
            strchr("\\\"$`\n", s->from[1]) != NULL)
            s->from++;
        *s->to++ = *s->from;
    }
    if (*s->from++ == '\0')
        s->fault = "a \" is not closed by a second one";
}

static void read_escaped(struct splitting *s)
{
    if (*s->from == '\0')
        s->fault = "nothing follows the last backslash";
    else
        *s->to++ = *s->from++;
}

/* Reads a word, which begins here, and ends it with '\0'. */
static void read_word(struct splitting *s)
{
    while (s->fault == NULL && *s->from != '\0' && !is_blank(*s->from)) {
        const char ch = *s->from++;

        if (ch == '\'')
            read_single(s);
        else if (ch == '"')
            read_double(s);
        else if (ch == '\\')
            read_escaped(s);
        else
            *s->to++ = ch;
    }
    *s->to++ = '\0';
}

char **shell_words_split(const char *text, const char **fault)
{
    const size_t len = strlen(text), most = len / 2 + 1;
    char **words = malloc((most + 1) * sizeof(*words) + len + 1);
    struct splitting s = {.from = text};
    size_t count = 0;

    *fault = NULL;
    if (words == NULL)
        return NULL;
    s.to = (char *)(words + most + 1);
    for (;;) {
        while (is_blank(*s.from))
            s.from++;
        if (*s.from == '\0')
            break;
        words[count++] = s.to;
        read_word(&s);
        if (s.fault != NULL) {
            *fault = s.fault;
            free(words);
            return NULL;
        }
    }
    words[count] = NULL;
    return words;
}
