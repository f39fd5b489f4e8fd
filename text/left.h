/* What was left out of the output of a process, and why. */
#ifndef TEXT_LEFT_H
#define TEXT_LEFT_H

#include <stdint.h>

/* Why bytes were left out: by which option, or for lack of room. */
enum text_left_reason {
    TEXT_LEFT_PROGRESS, /* an earlier state of a progress bar */
    TEXT_LEFT_GREP,     /* the line matches no pattern of --grep */
    TEXT_LEFT_GREP_V,   /* the line matches a pattern of --grep-v */
    TEXT_LEFT_RATE,     /* more lines came than --rate lets through */
    TEXT_LEFT_LINES,    /* the line is beyond --head and --tail */
    TEXT_LEFT_BUDGET,   /* the line is beyond --budget */
    TEXT_LEFT_ROOM,     /* there was no room to hold the line */
    TEXT_LEFT_REASONS
};

/* What was left out for one reason. */
struct text_left {
    uint64_t bytes;
    uint64_t lines; /* of a progress bar: states */
};

#endif
