/* Sends log messages of the tool to the launcher. */
#include "pmix_api/helper/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/door.h"
#include "overlay/base/err.h"
#include "overlay/wire/frame.h"
#include "pmix_api/helper/door.h"
#include "pmix_api/helper/jobs.h"

enum {
    UNANSWERED_MAX = 4
}; /* the most texts that are sent to the launcher and
      not answered */

struct request {
    struct request *next;
    const struct px_lib_log *log;
    size_t said, written; /* how many texts of the request were sent, and how
                           * many of these are written */
    uint32_t len_bytes;
    bool is_refused; /* the launcher could not write one of the texts */
};

struct px_texts {
    const struct px_jobs *jobs;
    struct request *first; /* owned */
    uint32_t count, len_bytes, unanswered;
};

static void remove_first(struct px_texts *texts)
{
    struct request *request = texts->first;

    texts->first = request->next;
    texts->count--;
    texts->len_bytes -= request->len_bytes;
    free(request);
}

/* Sends a text in pieces. */
static void say_text(const struct px_texts *texts,
                     const struct px_lib_text *text)
{
    const char *at = text->text;
    size_t left = strlen(at);

    do {
        const size_t len =
            left < JOB_DOOR_REST_MAX ? left : (size_t)JOB_DOOR_REST_MAX;

        px_door_say(
            px_jobs_door(texts->jobs),
            &(struct job_door){.kind = JOB_DOOR_LOG,
                               .channel = text->is_error ? OV_CHANNEL_STDERR
                                                         : OV_CHANNEL_STDOUT,
                               .is_more = len < left,
                               .rest = ov_rd_init((const uint8_t *)at, len)});
        at += len;
        left -= len;
    } while (left > 0);
}

/* Sends the next texts, until UNANSWERED_MAX have no answer. */
static void say_texts(struct px_texts *texts)
{
    for (struct request *at = texts->first; at != NULL; at = at->next) {
        while (at->said < at->log->count) {
            if (texts->unanswered == UNANSWERED_MAX)
                return;
            say_text(texts, &at->log->texts[at->said++]);
            texts->unanswered++;
        }
    }
}

static uint32_t count_bytes(const struct px_lib_log *log, bool *is_long)
{
    size_t len_bytes = 0;

    for (size_t i = 0; i < log->count && len_bytes <= PX_TEXTS_BYTES; i++)
        len_bytes += strlen(log->texts[i].text);
    *is_long = len_bytes > PX_TEXTS_BYTES;
    return (uint32_t)len_bytes;
}

void px_texts_on_log(struct px_texts *texts, const struct px_lib_log *log)
{
    struct request **at = &texts->first, *request = NULL;
    bool is_long;
    uint32_t len_bytes = count_bytes(log, &is_long);

    if (!is_long && texts->count < PX_TEXTS_MAX &&
        texts->len_bytes + len_bytes <= PX_TEXTS_BYTES_MAX)
        request = calloc(1, sizeof(*request));
    if (request == NULL) {
        px_lib_answer(log->call,
                      is_long ? PX_LIB_BAD_PARAM : PX_LIB_NO_RESOURCE);
        return;
    }
    request->log = log;
    request->len_bytes = len_bytes;
    texts->count++;
    texts->len_bytes += len_bytes;
    while (*at != NULL)
        at = &(*at)->next;
    *at = request;
    say_texts(texts);
}

void px_texts_on_word(struct px_texts *texts, const struct job_door *msg)
{
    struct request *request = texts->first;

    if (msg->kind != JOB_DOOR_LOGGED || texts->unanswered == 0)
        return;
    texts->unanswered--;
    request->is_refused = request->is_refused || msg->is_over;
    if (++request->written == request->log->count) {
        px_lib_answer(request->log->call,
                      request->is_refused ? PX_LIB_NO_RESOURCE : PX_LIB_YES);
        remove_first(texts);
    }
    say_texts(texts);
}

int px_texts_open(const struct px_jobs *jobs, struct px_texts **out)
{
    struct px_texts *texts = calloc(1, sizeof(*texts));

    *out = texts;
    if (texts == NULL)
        return OV_ENOMEM;
    texts->jobs = jobs;
    return 0;
}

void px_texts_close(struct px_texts *texts)
{
    if (texts == NULL)
        return;
    while (texts->first != NULL)
        remove_first(texts);
    free(texts);
}
