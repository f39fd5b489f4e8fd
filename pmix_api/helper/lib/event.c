/* Passes events from the tool to the caller, and events to the tool.
 *
 * libpmix has an upcall for events that a tool notifies, but does not call it
 * for an event that is for this machine only; and all tools are on this
 * machine. So this registers an event handler of the server, which receives all
 * events. The handler does not learn which processes an event is for. */
#include "pmix_api/helper/lib/event.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "pmix_api/helper/lib/ask.h"
#include "pmix_api/helper/lib/call.h"
#include "pmix_api/helper/lib/info.h"

/* The key of an info that libpmix adds to events from a tool, and to no others.
 * The headers of libpmix have no name for it. */
#define WAS_HERE "pmix.srvr.internal.notify"

/* A packed event begins with its size, because libpmix does not stop reading at
 * the end of the bytes by itself. */
enum { HEAD_BYTES = sizeof(uint64_t) };

/* An event that is being sent to the tool. */
struct told {
    pmix_proc_t source;
    pmix_info_t *info; /* owned */
    size_t infos;
};

/* --- from the tool */

static bool pack(pmix_data_buffer_t *out, const void *from, size_t count,
                 pmix_data_type_t type)
{
    return PMIx_Data_pack(NULL, out, (void *)(uintptr_t)from, (int32_t)count,
                          type) == PMIX_SUCCESS;
}

/* The number of infos that the tool has given, without those that libpmix has
 * added. For an event that is not from the tool, the number of all infos. */
static size_t count_given(const pmix_info_t info[], size_t infos)
{
    size_t count = 0;

    while (count < infos && !PMIX_CHECK_KEY(&info[count], WAS_HERE))
        count++;
    return count;
}

static bool pack_event(pmix_data_buffer_t *out, pmix_status_t code,
                       const pmix_proc_t *source, const pmix_info_t info[],
                       size_t infos)
{
    return pack(out, &code, 1, PMIX_STATUS) &&
           pack(out, source, 1, PMIX_PROC) && pack(out, &infos, 1, PMIX_SIZE) &&
           (infos == 0 || pack(out, info, infos, PMIX_INFO));
}

static void tell_event(void *arg)
{
    const pmix_data_buffer_t *bytes = arg;
    const uint64_t len_bytes = bytes->bytes_used;
    uint8_t *mem = malloc(HEAD_BYTES + len_bytes);

    if (mem == NULL)
        return; /* memory is out: other tools do not get the event */
    memcpy(mem, &len_bytes, HEAD_BYTES);
    memcpy(mem + HEAD_BYTES, bytes->base_ptr, len_bytes);
    px_caller()->events->on_event(px_caller()->arg, mem,
                                  HEAD_BYTES + len_bytes);
    free(mem);
}

static void hear_event(pmix_status_t code, const pmix_proc_t *source,
                       const pmix_info_t info[], size_t given)
{
    pmix_data_buffer_t bytes;

    PMIX_DATA_BUFFER_CONSTRUCT(&bytes);
    if (pack_event(&bytes, code, source, info, given))
        px_tell(tell_event, &bytes);
    PMIX_DATA_BUFFER_DESTRUCT(&bytes);
}

static void on_any(size_t handler, pmix_status_t status,
                   const pmix_proc_t *source, pmix_info_t info[], size_t infos,
                   pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    size_t given = count_given(info, infos);

    (void)handler;
    (void)results;
    (void)nresults;
    if (given < infos)
        hear_event(status, source, info, given);
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_listening(pmix_status_t status, size_t handler, void *arg)
{
    pmix_info_t *first = arg;

    (void)status;
    (void)handler;
    PMIX_INFO_FREE(first, 1);
}

int px_event_listen(void)
{
    pmix_info_t *first;
    bool yes = true;

    PMIX_INFO_CREATE(first, 1);
    if (first == NULL)
        return OV_ENOMEM;
    PMIX_INFO_LOAD(first, PMIX_EVENT_HDLR_FIRST, &yes, PMIX_BOOL);
    if (PMIx_Register_event_handler(NULL, 0, first, 1, on_any, on_listening,
                                    first) == PMIX_SUCCESS)
        return 0;
    PMIX_INFO_FREE(first, 1);
    return OV_ENOMEM;
}

/* --- events for the tool */

static void on_told(pmix_status_t status, void *arg)
{
    struct told *told = arg;

    (void)status;
    if (told->info != NULL)
        PMIX_INFO_FREE(told->info, told->infos);
    free(told);
}

static bool has_targets(const struct told *told)
{
    for (size_t i = 0; i < told->infos; i++) {
        if (PMIX_CHECK_KEY(&told->info[i], PMIX_EVENT_CUSTOM_RANGE))
            return true;
    }
    return false;
}

/* Sends the event to the tool; this function becomes the owner of *told. */
static int notify_tool(pmix_status_t code, struct told *told)
{
    pmix_data_range_t range =
        has_targets(told) ? PMIX_RANGE_CUSTOM : PMIX_RANGE_SESSION;

    if (PMIx_Notify_event(code, &told->source, range, told->info, told->infos,
                          on_told, told) == PMIX_SUCCESS)
        return 0;
    on_told(PMIX_ERROR, told);
    return OV_ENOMEM;
}

static bool is_event(enum px_lib_status code)
{
    return code >= PX_LIB_JOB_START && code <= PX_LIB_IOF_FAILURE;
}

int px_lib_event(enum px_lib_status code, const struct px_lib_name *source,
                 const struct px_lib_info *infos, size_t count)
{
    struct told *told;

    if (!is_event(code))
        return OV_EINVAL;
    told = calloc(1, sizeof(*told));
    if (told == NULL)
        return OV_ENOMEM;
    told->info = px_info_make(infos, count);
    if (told->info == NULL && count > 0) {
        free(told);
        return OV_ENOMEM;
    }
    told->infos = count;
    PMIX_LOAD_PROCID(&told->source, source->nspace, source->rank);
    return notify_tool(px_info_status(code), told);
}

/* --- events of a job that has been forgotten
 *
 * libpmix keeps a number of events for tools that register late
 * (pmix_max_events), and drops the oldest beyond that. When the server itself
 * registers a handler, libpmix passes the kept events to it and no longer keeps
 * them. */

static void on_taken(size_t handler, pmix_status_t status,
                     const pmix_proc_t *source, pmix_info_t info[],
                     size_t infos, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)handler;
    (void)status;
    (void)source;
    (void)info;
    (void)infos;
    (void)results;
    (void)nresults;
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_ignored(pmix_status_t status, void *arg)
{
    (void)status;
    (void)arg;
}

/* The handler has received all events that were kept, so it is deregistered. */
static void on_all_taken(pmix_status_t status, size_t handler, void *arg)
{
    pmix_info_t *about = arg;

    PMIX_INFO_FREE(about, 1);
    if (status == PMIX_SUCCESS)
        PMIx_Deregister_event_handler(handler, on_ignored, NULL);
}

void px_event_forget(const char *nspace)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_START, PMIX_LAUNCH_COMPLETE,
                             PMIX_EVENT_JOB_END, PMIX_ERR_IOF_FAILURE};
    pmix_info_t *about;
    pmix_proc_t all;

    PMIX_LOAD_PROCID(&all, nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_CREATE(about, 1);
    if (about == NULL)
        return;
    PMIX_INFO_LOAD(about, PMIX_EVENT_AFFECTED_PROC, &all, PMIX_PROC);
    if (PMIx_Register_event_handler(codes, sizeof(codes) / sizeof(codes[0]),
                                    about, 1, on_taken, on_all_taken,
                                    about) != PMIX_SUCCESS)
        PMIX_INFO_FREE(about, 1);
}

/* --- events of another tool */

static bool unpack(pmix_data_buffer_t *from, void *out, size_t count,
                   pmix_data_type_t type)
{
    int32_t left = (int32_t)count;

    return PMIx_Data_unpack(NULL, from, out, &left, type) == PMIX_SUCCESS &&
           (size_t)left == count;
}

/* Reads an event. Refuses a count of infos for which the buffer has too few
 * bytes. */
static bool unpack_event(pmix_data_buffer_t *from, pmix_status_t *code,
                         struct told *told)
{
    size_t infos = 0;

    if (!unpack(from, code, 1, PMIX_STATUS) ||
        !unpack(from, &told->source, 1, PMIX_PROC) ||
        !unpack(from, &infos, 1, PMIX_SIZE) || infos > from->bytes_used)
        return false;
    if (infos == 0)
        return true;
    PMIX_INFO_CREATE(told->info, infos);
    if (told->info == NULL)
        return false;
    told->infos = infos;
    return unpack(from, told->info, infos, PMIX_INFO);
}

static bool is_whole(const uint8_t *mem, size_t len_bytes)
{
    uint64_t left_bytes;

    if (len_bytes <= HEAD_BYTES)
        return false;
    memcpy(&left_bytes, mem, HEAD_BYTES);
    return left_bytes == len_bytes - HEAD_BYTES;
}

/* Loads a copy of the bytes into a buffer of libpmix. False: memory is out. */
static bool load_copy(pmix_data_buffer_t *out, const void *mem,
                      size_t len_bytes)
{
    char *block = malloc(len_bytes);

    PMIX_DATA_BUFFER_CONSTRUCT(out);
    if (block == NULL)
        return false;
    memcpy(block, mem, len_bytes);
    /* The buffer becomes the owner of the block. */
    PMIX_DATA_BUFFER_LOAD(out, block, len_bytes);
    return true;
}

int px_lib_event_of(const void *mem, size_t len_bytes)
{
    struct told *told;
    pmix_data_buffer_t bytes;
    pmix_status_t code;
    bool is_read;

    if (!is_whole(mem, len_bytes))
        return OV_EPROTO;
    told = calloc(1, sizeof(*told));
    if (told == NULL)
        return OV_ENOMEM;
    if (!load_copy(&bytes, (const uint8_t *)mem + HEAD_BYTES,
                   len_bytes - HEAD_BYTES)) {
        free(told);
        return OV_ENOMEM;
    }
    is_read = unpack_event(&bytes, &code, told);
    PMIX_DATA_BUFFER_DESTRUCT(&bytes);
    if (is_read)
        return notify_tool(code, told);
    on_told(PMIX_ERROR, told);
    return OV_EPROTO;
}
