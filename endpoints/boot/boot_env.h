/* The start-up text in the environment. A resource manager starts daemons
 * without a stdin for each, so their text comes in this way.
 *
 * The kernel limits one variable to 128 KiB, so the text is cut into pieces:
 * XYLEM_BOOT_0, XYLEM_BOOT_1, ... They hold the session key, so a daemon
 * removes them from its environment before it starts anything.
 */
#ifndef ENDPOINTS_BOOT_BOOT_ENV_H
#define ENDPOINTS_BOOT_BOOT_ENV_H

#include "text/fields.h"

enum {
    EP_BOOT_ENV_PIECE_BYTES = 96 << 10,
    /* 1.1 MiB in all, as exec() usually takes 2 MiB */
    EP_BOOT_ENV_PIECES_MAX = 12
};

/* Makes the variables for a text: entries "NAME=VALUE" in *out, ended by NULL,
 * which ep_boot_env_free frees. Returns 0, OV_EINVAL (the text is too long) or
 * OV_ENOMEM; *out is NULL then. */
int ep_boot_env_make(const struct text_buf *text, char ***out);
/* Wipes the entries and frees them; NULL is allowed. */
void ep_boot_env_free(char **entries);

/* Moves the text out of this process's environment. Removes the variables and
 * wipes their memory, so that /proc/PID/environ does not show them either. Must
 * not be called while other threads read the environment. Returns 0, OV_ENOENT
 * (there are no such variables) or OV_ENOMEM; the memory is wiped in any
 * case. */
int ep_boot_env_take(struct text_buf *text);

#endif
