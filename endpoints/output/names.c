/* Makes the paths of files from patterns. */
#include "config.h"

#include "endpoints/output/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "overlay/base/err.h"

enum { DIGITS_MAX = 10 };

struct path {
    char *text;
    size_t len;
    size_t size;
};

static void put_char(struct path *path, char c)
{
    if (path->len < path->size)
        path->text[path->len] = c;
    path->len++;
}

static void put(struct path *path, const char *text)
{
    while (*text != '\0')
        put_char(path, *text++);
}

static void put_name(struct path *path, const char *name)
{
    for (name = name != NULL ? name : "?"; *name != '\0'; name++)
        put_char(path, *name == '/' ? '_' : *name);
}

static void put_number(struct path *path, uint32_t number, int digits)
{
    char text[DIGITS_MAX + 8];

    snprintf(text, sizeof(text), "%0*" PRIu32, digits, number);
    put(path, text);
}

static void put_rank(struct path *path, uint32_t rank)
{
    put_number(path, rank, 1);
}

static void put_pattern(struct path *path, const char *at,
                        const struct text_origin *from)
{
    for (; *at != '\0'; at++) {
        const char sign = at[0] == '%' ? at[1] : '\0';

        if (sign == 'n')
            put_name(path, from->style->nspace);
        else if (sign == 'r')
            put_rank(path, from->rank);
        else if (sign == 'h')
            put_name(path, from->host);
        else
            put_char(path, *at);
        if (sign == 'n' || sign == 'r' || sign == 'h' || sign == '%')
            at++;
    }
}

/* Finds the letter of the field that begins with the % at `at`, and the number
 * before the letter, at most DIGITS_MAX. */
static const char *read_field(const char *at, int *digits)
{
    *digits = 0;
    for (at++; *at >= '0' && *at <= '9'; at++) {
        *digits = *digits * 10 + (*at - '0');
        if (*digits > DIGITS_MAX)
            *digits = DIGITS_MAX;
    }
    return at;
}

static void put_field(struct path *path, char sign, int digits,
                      const struct ep_names *names,
                      const struct text_origin *from)
{
    if (sign == 'j' || sign == 'J')
        put_name(path, from->style->nspace);
    else if (sign == 't' || sign == 'r')
        put_number(path, from->rank, digits);
    else if (sign == 'n')
        put_number(path, names->node_of(names->arg, from->rank), digits);
    else if (sign == 'N' || sign == 'h')
        put_name(path, from->host);
    else
        put_char(path, sign);
}

/* Returns the exact name of the channel's file; NULL: it has none. */
static const char *exact_of(const struct ep_names *names, uint8_t channel)
{
    return channel == TEXT_CHANNEL_STDOUT ? names->text : names->err;
}

static void put_exact(struct path *path, const struct ep_names *names,
                      const struct text_origin *from)
{
    int digits;

    for (const char *at = exact_of(names, from->channel); *at != '\0'; at++) {
        if (*at == '%') {
            at = read_field(at, &digits);
            put_field(path, *at, digits, names, from);
        } else {
            put_char(path, *at);
        }
    }
}

bool ep_names_has(const struct ep_names *names, uint8_t channel)
{
    if (names->kind == EP_NAMES_EXACT)
        return exact_of(names, channel) != NULL;
    return names->kind != EP_NAMES_NONE;
}

int ep_names_path(const struct ep_names *names, const struct text_origin *from,
                  char *text, size_t size_bytes)
{
    struct path path = {.text = text, .size = size_bytes};
    const char *channel = text_channel_name(from->channel);

    switch (names->kind) {
    case EP_NAMES_DIR:
        put(&path, names->text);
        put_char(&path, '/');
        put_name(&path, from->style->nspace);
        put(&path, "/rank.");
        put_rank(&path, from->rank);
        put_char(&path, '/');
        break;
    case EP_NAMES_FILE:
        put(&path, names->text);
        put_char(&path, '.');
        put_name(&path, from->style->nspace);
        put_char(&path, '.');
        put_rank(&path, from->rank);
        put_char(&path, '.');
        break;
    case EP_NAMES_PATTERN:
        put_pattern(&path, names->text, from);
        put_char(&path, '.');
        break;
    case EP_NAMES_EXACT:
        put_exact(&path, names, from);
        channel = "";
        break;
    case EP_NAMES_NONE:
    case EP_NAMES_KINDS:
        break;
    }
    put(&path, channel);
    put_char(&path, '\0');
    return path.len <= size_bytes ? 0 : OV_EFULL;
}

/* Finds the character after the next %; returns NULL when there is none. */
static const char *next_sign(const char *at)
{
    at = strchr(at, '%');
    return at != NULL ? at + 1 : NULL;
}

bool ep_names_is_shared(const struct ep_names *names)
{
    const char *at = names->text;

    if (names->kind != EP_NAMES_PATTERN)
        return names->kind == EP_NAMES_EXACT;
    while ((at = next_sign(at)) != NULL) {
        if (*at == 'r')
            return false;
        at += *at != '\0';
    }
    return true;
}

const char *ep_names_fault(const char *pattern)
{
    const char *at = pattern;

    while ((at = next_sign(at)) != NULL) {
        if (*at == '\0' || strchr("nrh%", *at) == NULL)
            return at - 1;
        at++;
    }
    return NULL;
}

const char *ep_names_exact_fault(const char *pattern)
{
    int digits;

    for (const char *at = pattern; (at = strchr(at, '%')) != NULL; at++) {
        const char *begin = at;

        at = read_field(at, &digits);
        if (*at == '\0' || strchr("jJtrnNh%", *at) == NULL ||
            (*at == '%' && at != begin + 1))
            return begin;
    }
    return NULL;
}

bool ep_names_exact_has_node(const char *pattern)
{
    int digits;

    for (const char *at = pattern; (at = strchr(at, '%')) != NULL; at++) {
        at = read_field(at, &digits);
        if (*at == 'n')
            return true;
    }
    return false;
}
