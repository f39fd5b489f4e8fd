/* A job that a tool wants to be started. */
#ifndef PMIX_API_HELPER_LIB_JOB_H
#define PMIX_API_HELPER_LIB_JOB_H

#include <stdint.h>

#include "job/program.h"

enum { PX_SPAWN_APPS_MAX = 64 };

enum px_spawn_flag {
    PX_SPAWN_NOHUP = 1, /* its end does not come with that of who started it */
    PX_SPAWN_LOG_EVENTS = 2, /* the launcher tells its user how far it is */
    PX_SPAWN_LOG_END = 4     /* or of its end alone */
};

enum { PX_FORWARD_STDIN = 1 };

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
    PX_OUTPUT_LOCAL = 1024,        /* on the launcher's console, too, */
    PX_OUTPUT_LOCAL_NEEDED = 2048, /* or the job is refused */
    PX_OUTPUT_FORMATS = 960
};

/* Strings are borrowed. */
struct px_spawn {
    uint8_t flags;         /* enum px_spawn_flag */
    uint8_t forwards;      /* bits, 1 << channel */
    uint32_t reader;       /* rank whose stdin is forwarded, or all */
    uint32_t output;       /* enum px_output_flag */
    const char *files;     /* NULL: none */
    struct job_wish *apps; /* owned, with their arrays */
    uint16_t count;
    uint32_t cache_bytes;
};

#endif
