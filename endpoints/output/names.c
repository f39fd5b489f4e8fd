/* Makes the paths of files from patterns. */
#include "config.h"

#include "endpoints/output/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "overlay/base/err.h"

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

static void put_rank(struct path *path, uint32_t rank)
{
    char text[16];

    snprintf(text, sizeof(text), "%" PRIu32, rank);
    put(path, text);
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
        return false;
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
