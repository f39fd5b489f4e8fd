/* A request for a program (struct job_wish), as bytes:
 *
 *     u32 processes, u32 most processes on a node (0: not given), u8 for each
 *         of what that is (enum topo_object), u8 1 where its directory need not
 *         exist, string directory (empty: none)
 *     u32 words, a string each: the program first
 *     u32 changes of the environment: u8 what (enum job_env_what, but OWN),
 *         u8 separator, string NAME or NAME=VALUE
 *     u8 how it is spread (enum job_map), strings (empty: none): hosts, file of
 *         hosts, hosts to add, file of hosts to add
 *
 * A string is its bytes and a NUL.
 */
#ifndef JOB_WISH_H
#define JOB_WISH_H

#include <stddef.h>
#include <stdint.h>

#include "job/program.h"
#include "overlay/base/wire.h"

/* The length of the encoded wish in bytes. Here and for encoding argv must not
 * be empty. O(bytes). */
size_t job_wish_bytes(const struct job_wish *wish);
/* Writes the wish. No change of the environment may be JOB_ENV_OWN, which names
 * a variable of this process only. */
void job_wish_encode(struct ov_wr *wr, const struct job_wish *wish);

/* Returns 0; OV_EPROTO when the bytes are not valid: argv is empty, a setting
 * has no name, or a count is larger than the bytes after it allow; or
 * OV_ENOMEM. *out always owns its two arrays, and borrows the strings.
 * O(bytes). */
int job_wish_decode(struct ov_rd *rd, struct job_wish *out);
/* Frees the arrays `argv` and `env` that decoding has allocated. */
void job_wish_fini(struct job_wish *wish);

#endif
