/* Answers requests of the tool. */
#include "pmix_api/helper/lib/call.h"

#include <stdarg.h>
#include <stdio.h>

#include "pmix_api/helper/lib/ask.h"

enum { NOTE_BYTES = 512 };

static struct px_caller caller;

static const pmix_status_t statuses[PX_LIB_ANSWERS] = {
    [PX_LIB_YES] = PMIX_SUCCESS,
    [PX_LIB_PARTIAL] = PMIX_ERR_PARTIAL_SUCCESS,
    [PX_LIB_BAD_PARAM] = PMIX_ERR_BAD_PARAM,
    [PX_LIB_NOT_FOUND] = PMIX_ERR_NOT_FOUND,
    [PX_LIB_NOT_SUPPORTED] = PMIX_ERR_NOT_SUPPORTED,
    [PX_LIB_NOT_NOW] = PMIX_ERR_NOT_AVAILABLE,
    [PX_LIB_NO_RESOURCE] = PMIX_ERR_OUT_OF_RESOURCE,
    [PX_LIB_IS_COMPLETE] = PMIX_ERR_IOF_COMPLETE,
    [PX_LIB_NO_WORD] = PMIX_ERR_JOB_NO_EXE_SPECIFIED,
    [PX_LIB_NO_PROGRAM] = PMIX_ERR_JOB_EXE_NOT_FOUND,
    [PX_LIB_NO_EXEC] = PMIX_ERR_JOB_APP_NOT_EXECUTABLE,
    [PX_LIB_NO_DIR] = PMIX_ERR_JOB_WDIR_NOT_FOUND,
    [PX_LIB_NO_ROOM] = PMIX_ERR_JOB_INSUFFICIENT_RESOURCES,
    [PX_LIB_NO_GROWTH] = PMIX_ERR_JOB_ALLOC_FAILED,
    [PX_LIB_FAILED] = PMIX_ERR_JOB_FAILED_TO_LAUNCH,
};

void px_call_open(const struct px_lib_events *events, void *arg)
{
    caller.events = events;
    caller.arg = arg;
}

void px_call_tool(const pmix_proc_t *name)
{
    caller.tool = *name;
}

const struct px_caller *px_caller(void)
{
    return &caller;
}

pmix_status_t px_call_status(enum px_lib_answer answer)
{
    return statuses[answer];
}

void px_call_turn(void (*done)(pmix_status_t status, void *arg), void *arg)
{
    /* This makes libpmix forget a namespace that does not exist, which has no
     * effect except that its thread calls done() afterwards. */
    static const pmix_nspace_t nobody = PX_LIB_NOBODY;

    PMIx_server_deregister_nspace(nobody, done, arg);
}

void px_lib_answer(void *arg, enum px_lib_answer answer)
{
    struct px_lib_call *call = arg;

    call->answer = answer;
    call->give(call);
}

static void tell_note(void *text)
{
    caller.events->on_note(caller.arg, text);
}

void px_call_note(const char *format, ...)
{
    char text[NOTE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    px_tell(tell_note, text);
}
