/* Names of the files for the output of processes, as PMIx defines them.
 *
 *     DIR       text/NSPACE/rank.RANK/stdout      PMIX_IOF_OUTPUT_TO_DIRECTORY
 *     FILE      text.NSPACE.RANK.stdout           PMIX_IOF_OUTPUT_TO_FILE
 *     PATTERN   text.stdout                       with PMIX_IOF_FILE_PATTERN
 *     EXACT     text; stderr and stddiag: err     as Slurm's srun has it
 *
 * In a pattern %n is the job's name, %r the rank, %h the host (an addition to
 * PMIx), and %% a per cent sign; other characters stand for themselves. In an
 * exact name these are %j or %J, %t or %r, %N or %h, and %n is the number of
 * the node; digits before the letter are the least number of digits of a
 * number. A slash within one of these names becomes '_'. Pure.
 */
#ifndef ENDPOINTS_OUTPUT_NAMES_H
#define ENDPOINTS_OUTPUT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/style.h"

enum ep_names_kind {
    EP_NAMES_NONE, /* there are no files */
    EP_NAMES_DIR,
    EP_NAMES_FILE,
    EP_NAMES_PATTERN,
    EP_NAMES_EXACT,
    EP_NAMES_KINDS
};

struct ep_names {
    enum ep_names_kind kind;
    const char *text; /* borrowed, as is `err` */
    const char *err; /* only with EXACT, where each of the two may be NULL: such
                        channels have no files */
    bool is_new;     /* existing files are an error; false: they are replaced */
    /* Returns the number of the node on which the rank is; only called for %n
     * in an exact name. */
    uint32_t (*node_of)(const void *arg, uint32_t rank);
    const void *arg;
};

/* True when the channel has files. */
bool ep_names_has(const struct ep_names *names, uint8_t channel);

/* Writes the path of the file for this process's channel, with a NUL, into
 * path. Returns 0, or OV_EFULL when it is longer than size_bytes. */
int ep_names_path(const struct ep_names *names, const struct text_origin *from,
                  char *path, size_t size_bytes);

/* True when several channels may write to the same file: a pattern without %r,
 * and exact names. */
bool ep_names_is_shared(const struct ep_names *names);

/* Finds the first % of a pattern that no known letter follows; NULL when there
 * is none. */
const char *ep_names_fault(const char *pattern);

/* Does the same for an exact name. */
const char *ep_names_exact_fault(const char *pattern);
/* True when %n is in an exact name without a fault. */
bool ep_names_exact_has_node(const char *pattern);

#endif
