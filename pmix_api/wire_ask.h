/* What is in the words of wire.h with which tools order something. */
#ifndef PMIX_API_WIRE_ASK_H
#define PMIX_API_WIRE_ASK_H

#include <stdint.h>

#include "topo/tree.h"

enum { PX_RANGES_MAX = 64 }; /* in one SIGNAL */

enum px_answer {
    PX_ANSWER_OK,
    PX_ANSWER_NOT_NOW, /* the job has not begun, or is over */
    PX_ANSWER_FULL,    /* too much waits, or there is no room */
    /* Of what was to be started. */
    PX_ANSWER_NO_PROGRAM, /* it does not exist */
    PX_ANSWER_NO_EXEC,    /* it cannot be executed */
    PX_ANSWER_NO_DIR,     /* its directory cannot be entered */
    PX_ANSWER_FAILED,     /* something else went wrong */
    PX_ANSWER_NO_HOST,    /* a host is none of the tree's */
    PX_ANSWER_NO_GROWTH,  /* the tree gets no further hosts */
    PX_ANSWER_BAD,        /* it makes no sense */
    PX_ANSWERS
};

struct px_done {
    uint32_t token;
    uint8_t answer; /* enum px_answer */
};

struct px_signal {
    uint32_t token;
    uint32_t signo;
    uint8_t count; /* 0: all */
    struct topo_range ranges[PX_RANGES_MAX];
};

#endif
