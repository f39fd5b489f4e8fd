/* The start-up text in the environment, for daemons that a resource manager
 * starts: it has no stdin of its own for each of them.
 *
 * One variable may have 128 KiB (the kernel's limit), so that the text goes in
 * pieces: XYLEM_BOOT_0, XYLEM_BOOT_1, ... They hold the session key. A daemon
 * takes them first thing, before it starts anything.
 */
#ifndef ENDPOINTS_BOOT_BOOT_ENV_H
#define ENDPOINTS_BOOT_BOOT_ENV_H

#include "text/fields.h"

enum {
    EP_BOOT_ENV_PIECE_BYTES = 96 << 10,
    EP_BOOT_ENV_PIECES_MAX = 12 /* an exec takes 2 MiB in all, as a rule */
};

/* The variables for a text: entries "NAME=VALUE" in *out, ended by NULL, to be
 * freed by ep_boot_env_free. Returns 0, OV_EINVAL (the text is too long) or
 * OV_ENOMEM; *out is NULL then. */
int ep_boot_env_make(const struct text_buf *text, char ***out);
/* Wipes and frees; NULL is allowed. */
void ep_boot_env_free(char **entries);

/* Moves the text out of this process's environment: the variables are gone,
 * and the memory that held them is wiped, so that /proc/PID/environ does not
 * show them either. Not while other threads read the environment. Returns 0,
 * OV_ENOENT (there is none) or OV_ENOMEM; wiped is wiped in any case. */
int ep_boot_env_take(struct text_buf *text);

#endif
