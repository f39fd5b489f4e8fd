/* Moves the start-up text into the environment, and out of it. */
#include "config.h"

#include "endpoints/boot/boot_env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "overlay/base/err.h"

static void name_of(unsigned piece, char name[32])
{
    snprintf(name, 32, "XYLEM_BOOT_%u", piece);
}

void ep_boot_env_free(char **entries)
{
    for (char **e = entries; e != NULL && *e != NULL; e++) {
        sodium_memzero(*e, strlen(*e));
        free(*e);
    }
    free(entries);
}

int ep_boot_env_make(const struct text_buf *text, char ***out)
{
    size_t left = text->len_bytes;
    const char *at = text->at;
    char **entries;

    *out = NULL;
    if (left > (size_t)EP_BOOT_ENV_PIECES_MAX * EP_BOOT_ENV_PIECE_BYTES)
        return OV_EINVAL;
    entries = calloc(EP_BOOT_ENV_PIECES_MAX + 1, sizeof(*entries));
    for (unsigned i = 0; entries != NULL && left > 0; i++) {
        size_t piece =
            left < EP_BOOT_ENV_PIECE_BYTES ? left : EP_BOOT_ENV_PIECE_BYTES;
        char name[32];

        name_of(i, name);
        entries[i] = malloc(strlen(name) + 1 + piece + 1);
        if (entries[i] == NULL) {
            ep_boot_env_free(entries);
            return OV_ENOMEM;
        }
        sprintf(entries[i], "%s=%.*s", name, (int)piece, at);
        at += piece;
        left -= piece;
    }
    *out = entries;
    return entries == NULL ? OV_ENOMEM : 0;
}

int ep_boot_env_take(struct text_buf *text)
{
    char name[32];

    *text = (struct text_buf){0};
    for (unsigned i = 0; i < EP_BOOT_ENV_PIECES_MAX; i++) {
        char *value;

        name_of(i, name);
        value = getenv(name);
        if (value == NULL)
            break;
        text_buf_puts(text, value);
        sodium_memzero(value, strlen(value));
        unsetenv(name);
    }
    if (text->bad)
        return OV_ENOMEM;
    return text->len_bytes == 0 ? OV_ENOENT : 0;
}
