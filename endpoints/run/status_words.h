/* The words of the line of status of a run: numbers in, text out. */
#ifndef ENDPOINTS_RUN_STATUS_WORDS_H
#define ENDPOINTS_RUN_STATUS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_status_view {
    bool is_launching;      /* `joined`, `nodes` and `awaited` count */
    uint32_t joined, nodes; /* how many nodes have joined, of how many */
    char *awaited;          /* hosts that the launch waits for; NULL: none */
    bool is_starting;       /* not all processes have been started */
    uint32_t processes, over, failed; /* `failed` are part of `over` */
    bool has_stdin;                   /* stdin is on its way to the processes */
    uint64_t stdin_bytes, stdin_rate; /* sent so far; bytes per second */
    uint64_t stdin_base; /* how many frames of it all readers have taken */
    /* where slow_rank is, the reader for which more stdin waits; NULL: none */
    const char *slow_host;
    uint32_t slow_rank;
    bool is_uneven;     /* some readers are far ahead of it */
    uint64_t elapsed_s; /* since the start of the run */
};

/* True when slow_rank lags, by what was seen about a second ago and is seen
 * now: more stdin waits for it both times, and others are far ahead of it, or
 * it has taken nothing meanwhile. */
bool ep_run_status_lags(const struct run_status_view *before,
                        const struct run_status_view *now);

/* Writes the line into `text` of size_bytes, with fewer than `columns`
 * characters: the most important parts, each one whole, except that the first
 * is cut where not even it has room. */
void ep_run_status_words(const struct run_status_view *view, unsigned columns,
                         char *text, size_t size_bytes);
/* Returns how many bytes `awaited` may have so that it fits into the line, with
 * as many `columns`. */
size_t ep_run_status_room(unsigned columns);

#endif
