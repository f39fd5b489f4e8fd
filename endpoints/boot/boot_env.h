/* The start-up text in the environment, for daemons that a resource manager
 * starts: it cannot give each of them a stdin of its own.
 *
 * The kernel allows one variable 128 KiB, so the text goes in pieces:
 * XYLEM_BOOT_0, XYLEM_BOOT_1, ... They hold the session key. A daemon takes
 * them out before it starts anything.
 */
#ifndef ENDPOINTS_BOOT_BOOT_ENV_H
#define ENDPOINTS_BOOT_BOOT_ENV_H

#include "text/fields.h"

enum {
    EP_BOOT_ENV_PIECE_BYTES = 96 << 10,
    EP_BOOT_ENV_PIECES_MAX = 12 /* exec() usually takes 2 MiB in all */
};

/* Makes the variables for a text: entries "NAME=VALUE" in *out, ended by NULL,
 * to be freed by ep_boot_env_free. Returns 0, OV_EINVAL (the text is too long)
 * or OV_ENOMEM; *out is NULL then. */
int ep_boot_env_make(const struct text_buf *text, char ***out);
/* Wipes and frees the entries; NULL is allowed. */
void ep_boot_env_free(char **entries);

/* Moves the text out of this process's environment. The variables are removed,
 * and the memory that held them is wiped, so that /proc/PID/environ does not
 * show them either. Not to be called while other threads read the environment.
 * Returns 0, OV_ENOENT (there is none) or OV_ENOMEM; the memory is wiped in any
 * case. */
int ep_boot_env_take(struct text_buf *text);

#endif
