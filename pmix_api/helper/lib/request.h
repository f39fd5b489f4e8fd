/* Requests of a tool.
 *
 * A request with a `call` is borrowed until it is answered. It must be answered
 * once, by px_lib_answer() or by the function that its comment names, within
 * its callback or later. After the tool has disconnected, a request may be
 * answered but need not be.
 */
#ifndef PMIX_API_HELPER_LIB_REQUEST_H
#define PMIX_API_HELPER_LIB_REQUEST_H

#include <stddef.h>

#include "job/request.h"
#include "pmix_api/helper/lib/value.h"

/* How a request of the tool is answered. */
enum px_lib_answer {
    PX_LIB_YES,
    PX_LIB_PARTIAL, /* only a part of the request could be served */
    PX_LIB_BAD_PARAM,
    PX_LIB_NOT_FOUND,
    PX_LIB_NOT_SUPPORTED,
    PX_LIB_NOT_NOW, /* the job has not begun, or has ended */
    PX_LIB_NO_RESOURCE,
    PX_LIB_IS_COMPLETE, /* the target of the request no longer accepts
                           anything */
    /* Why something could not be started: */
    PX_LIB_NO_WORD,    /* the request names no program */
    PX_LIB_NO_PROGRAM, /* the program does not exist */
    PX_LIB_NO_EXEC,    /* the program cannot be executed */
    PX_LIB_NO_DIR,     /* the directory of the program cannot be entered */
    PX_LIB_NO_ROOM,    /* no room for this many processes */
    PX_LIB_NO_GROWTH,  /* the tree cannot get the further hosts */
    PX_LIB_FAILED,     /* something else went wrong */
    PX_LIB_ANSWERS
};

/* Channels of output, as bits. */
enum { PX_LIB_STDOUT = 2, PX_LIB_STDERR = 4, PX_LIB_STDDIAG = 8 };

/* The directives of a pull, or of a spawn for the output of its job. All zero
 * means that the tool has given no directive. */
struct px_lib_wish {
    bool copies, drops_oldest;
    uint64_t cache_bytes; /* valid if has_cache */
    uint64_t buffer_bytes, buffer_s;
    /* Which directives the tool has given. */
    bool has_drops, has_cache, has_buffer, has_time;
    bool is_bad;         /* a directive has a value of a wrong type */
    const char *strange; /* a directive that cannot be served, or NULL */
};

/* The tool asks for output. */
struct px_lib_pull {
    const struct px_lib_name *targets;
    size_t count;
    uint16_t channels; /* as the tool sent it: any bits may be set */
    struct px_lib_wish wish;
};

/* The tool sends bytes to the stdin of processes. */
struct px_lib_push {
    const struct px_lib_name *targets;
    size_t count;
    const void *mem;
    size_t len_bytes;
    bool is_end;         /* nothing more follows for these targets */
    bool is_collected;   /* the tool's library reads the tool's own stdin */
    const char *strange; /* a directive that cannot be served, or NULL */
    void *call;
};

/* A part of a query: keys, each of which is a question, and qualifiers, which
 * say what the questions are about. */
struct px_lib_ask {
    const char *const *keys;
    size_t keys_count;
    const struct px_lib_info *qualifiers;
    size_t qualifiers_count;
};

/* A query, with at least one key; answered by px_lib_answer_query(). */
struct px_lib_query {
    const struct px_lib_ask *asks;
    size_t count;
    void *call;
};

/* The tool asks to start a job. Requests that cannot be valid were refused
 * before. Answered by px_lib_answer_spawn(). */
struct px_lib_spawn {
    const struct job_request *request;
    struct px_lib_wish wish; /* defaults for pulls of the job; is_bad is false
                                and strange NULL */
    void *call;
};

/* The tool asks to send a signal to processes. Without targets they are those
 * of the session's own job. */
struct px_lib_control {
    const struct px_lib_name *targets;
    size_t count;
    int signo; /* from 1 to 64 */
    void *call;
};

/* The tool asks to show log messages, at least one, to the user. The answer
 * PX_LIB_YES becomes PX_LIB_PARTIAL when the request has other messages, too,
 * that cannot be shown. */
struct px_lib_log {
    const struct px_lib_text {
        bool is_error; /* for stderr; otherwise for stdout */
        const char *text;
    } * texts;
    size_t count;
    void *call;
};

#endif
