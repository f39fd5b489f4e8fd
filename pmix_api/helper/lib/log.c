/* Passes on log messages of the tool. */
#include "pmix_api/helper/lib/log.h"

#include <stdbool.h>
#include <stdlib.h>

#include "pmix_api/helper/lib/ask.h"
#include "pmix_api/helper/lib/call.h"
#include "pmix_api/helper/lib/flag.h"

struct log_call {
    struct px_lib_call base;
    struct px_lib_log log;
    struct px_lib_text *texts; /* owned */
    size_t done;               /* how many texts libpmix has written itself */
    bool is_part;              /* the request has other texts that cannot be
                                  shown */
    pmix_op_cbfunc_t answer;
    void *arg;
};

static const char *const places[] = {PMIX_LOG_STDOUT, PMIX_LOG_STDERR};

/* Destinations to which libpmix in this process writes texts itself (by
 * plog/syslog, a part of every build) before it also passes them to us; and the
 * directives that it reads or adds. */
static const char *const texts_of_library[] = {
    PMIX_LOG_SYSLOG, PMIX_LOG_LOCAL_SYSLOG, PMIX_LOG_GLOBAL_SYSLOG};
static const char *const directives_of_library[] = {
    PMIX_LOG_SOURCE,     PMIX_LOG_TIMESTAMP, PMIX_LOG_GENERATE_TIMESTAMP,
    PMIX_LOG_SYSLOG_PRI, PMIX_LOG_ONCE,
#ifdef PMIX_LOG_AGG
    PMIX_LOG_AGG,        PMIX_LOG_KEY,       PMIX_LOG_VAL,
#endif
};

enum {
    PLACES = sizeof(places) / sizeof(places[0]),
    TEXTS_OF_LIBRARY = sizeof(texts_of_library) / sizeof(texts_of_library[0]),
    DIRECTIVES_OF_LIBRARY =
        sizeof(directives_of_library) / sizeof(directives_of_library[0]),
};

const char *px_log_key(size_t index)
{
    return index < PLACES ? places[index] : NULL;
}

static bool is_text(const pmix_info_t *info, const char *const keys[],
                    size_t count)
{
    return info->value.type == PMIX_STRING && info->value.data.string != NULL &&
           px_value_has_key(info, keys, count);
}

static bool is_refused(const pmix_info_t *info, const char *const keys[],
                       size_t count)
{
    if (!PMIX_INFO_IS_REQUIRED(info) || is_text(info, places, PLACES) ||
        px_value_has_key(info, keys, count))
        return false;
    px_call_note("PMIx_Log was refused: %s is not supported", info->key);
    return true;
}

/* True when a text, or a directive, is marked as required and cannot be served.
 */
static bool asks_too_much(const pmix_info_t data[], size_t ndata,
                          const pmix_info_t directives[], size_t ndirs)
{
    for (size_t i = 0; i < ndata; i++) {
        if (is_refused(&data[i], texts_of_library, TEXTS_OF_LIBRARY))
            return true;
    }
    for (size_t i = 0; i < ndirs; i++) {
        if (is_refused(&directives[i], directives_of_library,
                       DIRECTIVES_OF_LIBRARY))
            return true;
    }
    return false;
}

static void on_turn(pmix_status_t status, void *arg)
{
    struct log_call *call = arg;

    (void)status;
    call->answer(px_call_status(call->base.answer), call->arg);
    free(call->texts);
    free(call);
}

static void give(struct px_lib_call *base)
{
    struct log_call *call = (struct log_call *)base;

    if (base->answer == PX_LIB_YES && call->is_part)
        base->answer = PX_LIB_PARTIAL;
    px_call_turn(on_turn, call);
}

static void tell_log(void *arg)
{
    struct log_call *call = arg;

    px_caller()->events->on_log(px_caller()->arg, &call->log);
}

/* Copies the texts of the request. False: memory is out. */
static bool fill(struct log_call *call, const pmix_info_t data[], size_t ndata)
{
    call->texts = calloc(ndata + 1, sizeof(*call->texts));
    if (call->texts == NULL)
        return false;
    call->log.texts = call->texts;
    call->log.call = call;
    for (size_t i = 0; i < ndata; i++) {
        if (is_text(&data[i], texts_of_library, TEXTS_OF_LIBRARY))
            call->done++;
        else if (is_text(&data[i], places, PLACES))
            call->texts[call->log.count++] = (struct px_lib_text){
                .is_error = PMIX_CHECK_KEY(&data[i], PMIX_LOG_STDERR),
                .text = data[i].value.data.string,
            };
    }
    call->is_part = call->log.count + call->done < ndata;
    return true;
}

/* The answer to a request that cannot be served comes by the callback, too. */
void px_log_upcall(const pmix_proc_t *asker, const pmix_info_t data[],
                   size_t ndata, const pmix_info_t directives[], size_t ndirs,
                   pmix_op_cbfunc_t answer, void *arg)
{
    struct log_call *call = calloc(1, sizeof(*call));

    (void)asker;
    if (call == NULL)
        abort(); /* without an answer the tool would wait for ever */
    *call =
        (struct log_call){.base = {.give = give}, .answer = answer, .arg = arg};
    if (asks_too_much(data, ndata, directives, ndirs))
        px_lib_answer(call, PX_LIB_NOT_SUPPORTED);
    else if (!fill(call, data, ndata))
        px_lib_answer(call, PX_LIB_NO_RESOURCE);
    else if (call->log.count == 0)
        px_lib_answer(call, call->done > 0 ? PX_LIB_YES : PX_LIB_NOT_SUPPORTED);
    else
        px_tell(tell_log, call);
}
