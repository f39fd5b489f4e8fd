/* What a tool asks to be started, as bytes between helper and launcher.
 *
 *     u8 flags (PX_SPAWN_ bits), u8 channels that can be forwarded (1 <<
 *         channel each, enum ov_channel), u32 rank whose stdin that is
 *         (UINT32_MAX: all), u32 pull that gets its output from the start (0:
 *         none), u32 what becomes of its output (PX_OUTPUT_ bits), string name
 *         of its files (empty: none)
 *     u16 programs, u32 bytes of each of these channels that are kept for those
 *         who come late (JOB_CACHE_UNSAID); each program as job/wish.h has it
 *
 * Numbers are little-endian; a string is its bytes and a NUL.
 */
#ifndef PMIX_API_SPAWN_H
#define PMIX_API_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/program.h"

enum {
    PX_SPAWN_BYTES_MAX = 8 << 20,
    PX_SPAWN_APPS_MAX = 64,
};

enum px_spawn_flag {
    PX_SPAWN_NOHUP = 1, /* its end does not come with that of who started it */
    PX_SPAWN_LOG_EVENTS = 2, /* the launcher tells its user how far it is */
    PX_SPAWN_LOG_END = 4,    /* or of its end alone */
    PX_SPAWN_FLAGS = 7
};

enum { PX_FORWARD_STDIN = 1, PX_FORWARD_ALL = 0xf };

enum px_output_flag {
    PX_OUTPUT_DIR = 1,       /* files below a directory of that name, */
    PX_OUTPUT_FILE = 2,      /* or files whose names begin so, */
    PX_OUTPUT_PATTERN = 4,   /* or are made of it */
    PX_OUTPUT_FILE_ONLY = 8, /* nothing is shown */
    PX_OUTPUT_MERGE = 16,    /* stderr joins stdout */
    PX_OUTPUT_RAW = 32,      /* not by lines */
    PX_OUTPUT_TAG = 64,
    PX_OUTPUT_RANK = 128,
    PX_OUTPUT_TIME = 256,
    PX_OUTPUT_XML = 512,
    PX_OUTPUT_FILES = 7,           /* those of files */
    PX_OUTPUT_LOCAL = 1024,        /* on the launcher's console, too, */
    PX_OUTPUT_LOCAL_NEEDED = 2048, /* or the job is refused */
    PX_OUTPUT_FORMATS = 960,
    PX_OUTPUT_ALL = 4095
};

/* Strings are borrowed. */
struct px_spawn {
    uint8_t flags;         /* enum px_spawn_flag */
    uint8_t forwards;      /* bits, 1 << channel */
    uint32_t reader;       /* rank whose stdin is forwarded, or all */
    uint32_t pull;         /* gets the output from the start; 0: none does */
    uint32_t output;       /* enum px_output_flag */
    const char *files;     /* NULL: none */
    struct job_wish *apps; /* owned, with their arrays */
    uint16_t count;
    uint32_t cache_bytes;
};

/* Into a block that is the caller's to free; *mem is NULL when memory is out,
 * or when it is larger than PX_SPAWN_BYTES_MAX. Returns its size. */
size_t px_spawn_encode(const struct px_spawn *spawn, uint8_t **mem);

/* Returns 0, with strings in mem; OV_EPROTO when it is none: a program without
 * a word, a setting without a name, a number that is not covered by what
 * follows; or OV_ENOMEM. *out is empty then. O(len_bytes). */
int px_spawn_decode(const uint8_t *mem, size_t len_bytes, struct px_spawn *out);

/* Also of one that was put together by hand from blocks of malloc. */
void px_spawn_fini(struct px_spawn *spawn);

#endif
