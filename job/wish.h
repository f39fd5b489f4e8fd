/* A program that is asked for (struct job_wish), as bytes:
 *
 *     u32 processes, u32 of these on a node at most (0: not said), u8 for each
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

/* How many bytes it takes; both here need a word at least. O(bytes). */
size_t job_wish_bytes(const struct job_wish *wish);
/* No change is OWN: only the launcher knows what its environment has. */
void job_wish_encode(struct ov_wr *wr, const struct job_wish *wish);

/* Returns 0; OV_EPROTO when it is none: without a word, a setting without a
 * name, a number that is not covered by what follows; or OV_ENOMEM. *out owns
 * its two arrays in each case, and borrows the strings. O(bytes). */
int job_wish_decode(struct ov_rd *rd, struct job_wish *out);
/* Frees its two arrays, of words and of changes: they are its own. */
void job_wish_fini(struct job_wish *wish);

#endif
