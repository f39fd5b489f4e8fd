/* Folded output on its way to the console, of one channel: groups become lines
 * (text/folded.h), many of them a record, and are freed when these are written.
 * Pieces of long lines go as the lines of their rank.
 *
 * Only fold_lane.c uses this.
 */
#ifndef ENDPOINTS_OUTPUT_FOLD_OUT_H
#define ENDPOINTS_OUTPUT_FOLD_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "job/fold.h"
#include "job/rank_set.h"
#include "text/folded.h"

struct fold_batch;
struct job_record;

enum {
    EP_FOLD_OUT_BYTES = 1 << 20
}; /* the console has more than that only if
      it must */

/* The console knows folded output by process numbers from this one on: each
 * batch has one of its own. */
#define EP_FOLD_PROC_FIRST UINT32_C(0x80000000)
#define EP_FOLD_PROC_LAST  UINT32_C(0xbfffffff)

struct fold_out_cfg {
    struct job_fold *fold; /* whose groups these are */
    uint8_t channel;
    bool has_hosts; /* lines name hosts, and objects do, too */
    /* How lines look (text_folded_style()), and lines without a label. */
    const struct text_style *style, *plain;
    const char *(*host_of)(void *arg, uint32_t rank); /* may return NULL */
    /* Hands a record to the console; its cookie is a struct fold_batch. Returns
     * 0 or a negative code. */
    int (*on_record)(void *arg, const struct job_record *rec);
    /* The group is written. */
    void (*on_group)(void *arg, const struct job_fold_group *group);
    /* The whole outputs of these ranks are written, whose lines have this
     * sum. */
    void (*on_whole)(void *arg, const struct job_rank_set *members,
                     uint64_t sum);
    /* The piece of this rank is written. */
    void (*on_piece)(void *arg, uint32_t rank, const void *mem,
                     uint32_t len_bytes);
    void *arg;
};

struct fold_out {
    struct fold_out_cfg cfg;
    /* Batches that are not written, in order, and the one that is filled. */
    struct fold_batch *first, *last, *filling;
    uint64_t out_bytes; /* of the batches that the console has */
    uint32_t next_proc;
    struct job_rank_set who_set; /* the ranks of the last group, */
    char *who;                   /* owned: and their text */
    size_t who_bytes, who_cap;
    struct text_folded head;
};

void ep_fold_out_open(struct fold_out *out, const struct fold_out_cfg *cfg);
/* Drops everything, without callbacks. */
void ep_fold_out_close(struct fold_out *out);

/* Takes over a group that has left the fold. Returns 0, OV_ENOMEM or what
 * on_record returned. */
int ep_fold_out_group(struct fold_out *out, struct job_fold_group *group);
/* The parts of whole outputs; each returns as ep_fold_out_group(). The head of
 * the output of these ranks, with words behind their label; nothing but for the
 * format text. */
int ep_fold_out_head(struct fold_out *out, const struct job_rank_set *members,
                     const char *words);
/* A line of it, in the format text without a label; with is_ended a newline
 * follows where there is none. */
int ep_fold_out_line(struct fold_out *out, const struct job_rank_set *members,
                     const struct job_text *text, bool is_ended);
/* Any bytes, in the format text only. */
int ep_fold_out_bytes(struct fold_out *out, const void *mem, size_t len_bytes);
/* Its end. */
int ep_fold_out_whole(struct fold_out *out, const struct job_rank_set *members,
                      uint64_t sum);
/* Hands on what is not handed on yet. Returns as ep_fold_out_group(). */
int ep_fold_out_flush(struct fold_out *out);
/* Copies a piece of a line of a rank, which `like` describes, and hands it on.
 * Returns as ep_fold_out_group(). */
int ep_fold_out_piece(struct fold_out *out, const struct job_record *like);

/* True when the console should get more. */
bool ep_fold_out_has_room(const struct fold_out *out);
/* True when the console has given back all that it was given. */
bool ep_fold_out_is_idle(const struct fold_out *out);

/* The console has written bytes of a batch, or of a rank. */
void ep_fold_out_written(struct fold_out *out, uint32_t proc, const void *mem,
                         uint32_t len_bytes);
/* The console has given a record of the batch back. */
void ep_fold_out_taken(struct fold_batch *batch);

#endif
