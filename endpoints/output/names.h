/* Names of the files for the output of processes, as PMIx defines them.
 *
 *     DIR       text/NSPACE/rank.RANK/stdout      PMIX_IOF_OUTPUT_TO_DIRECTORY
 *     FILE      text.NSPACE.RANK.stdout           PMIX_IOF_OUTPUT_TO_FILE
 *     PATTERN   text.stdout                       with PMIX_IOF_FILE_PATTERN
 *
 * In a pattern %n is the job's name, %r the rank, %h the host (an addition to
 * PMIx), and %% a per cent sign; other characters stand for themselves. A slash
 * within one of these names becomes '_'. Pure.
 */
#ifndef ENDPOINTS_OUTPUT_NAMES_H
#define ENDPOINTS_OUTPUT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "text/style.h"

enum ep_names_kind {
    EP_NAMES_NONE, /* there are no files */
    EP_NAMES_DIR,
    EP_NAMES_FILE,
    EP_NAMES_PATTERN,
    EP_NAMES_KINDS
};

struct ep_names {
    enum ep_names_kind kind;
    const char *text; /* borrowed */
    bool is_new; /* existing files are an error; false: they are replaced */
};

/* Writes the path of the file for this process's channel, with a NUL, into
 * path. Returns 0, or OV_EFULL when it is longer than size_bytes. */
int ep_names_path(const struct ep_names *names, const struct text_origin *from,
                  char *path, size_t size_bytes);

/* True when several processes write to the same file: a pattern without %r. */
bool ep_names_is_shared(const struct ep_names *names);

/* Finds the first % of a pattern that no known letter follows; NULL when there
 * is none. */
const char *ep_names_fault(const char *pattern);

#endif
