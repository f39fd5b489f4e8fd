/* Events: what the tool is told, and what it tells others.
 *
 * The upcall for what a tool notifies does not come where that is for this
 * machine alone, and all tools are on one. A handler of the server's own hears
 * all of it, but not for whom it is. It comes first, and the upcall, if it
 * comes, in the same turn of the library: so an event is kept for that long. */
#include "pmix_api/helper/lib/event.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"
#include "pmix_api/helper/lib/ask.h"
#include "pmix_api/helper/lib/call.h"
#include "pmix_api/helper/lib/info.h"

/* What the library adds to an event of a tool: it has no name outside. */
#define WAS_HERE "pmix.srvr.internal.notify"

/* Before the bytes of an event: how many these are. libpmix may read on behind
 * their end. */
enum { HEAD_BYTES = sizeof(uint64_t) };

/* One that the tool has notified. */
struct heard {
    pmix_data_buffer_t bytes; /* owned: code, source, infos */
    bool is_private;          /* for nobody else */
};

/* One that is told to the tool. */
struct told {
    pmix_proc_t source;
    pmix_info_t *info; /* owned */
    size_t infos;
};

static struct {
    struct heard *last; /* borrowed: of this turn, or NULL */
} event;                /* in the library's thread */

/* --- from the tool */

static void end_heard(struct heard *heard)
{
    PMIX_DATA_BUFFER_DESTRUCT(&heard->bytes);
    free(heard);
}

static bool pack(pmix_data_buffer_t *out, const void *from, size_t count,
                 pmix_data_type_t type)
{
    return PMIx_Data_pack(NULL, out, (void *)(uintptr_t)from, (int32_t)count,
                          type) == PMIX_SUCCESS;
}

/* What the library adds says that it was there, which holds for no other. */
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
    const struct heard *heard = arg;
    const uint64_t len_bytes = heard->bytes.bytes_used;
    uint8_t *mem = malloc(HEAD_BYTES + len_bytes);

    if (mem == NULL)
        return; /* others do not hear of it */
    memcpy(mem, &len_bytes, HEAD_BYTES);
    memcpy(mem + HEAD_BYTES, heard->bytes.base_ptr, len_bytes);
    px_caller()->events->on_event(px_caller()->arg, mem,
                                  HEAD_BYTES + len_bytes);
    free(mem);
}

static void on_heard(pmix_status_t status, void *arg)
{
    struct heard *heard = arg;

    (void)status;
    if (event.last == heard)
        event.last = NULL;
    if (!heard->is_private)
        px_tell(tell_event, heard);
    end_heard(heard);
}

static void hear(pmix_status_t code, const pmix_proc_t *source,
                 const pmix_info_t info[], size_t infos)
{
    struct heard *heard = calloc(1, sizeof(*heard));

    if (heard == NULL)
        return;
    PMIX_DATA_BUFFER_CONSTRUCT(&heard->bytes);
    if (!pack_event(&heard->bytes, code, source, info,
                    count_given(info, infos))) {
        end_heard(heard);
        return;
    }
    event.last = heard;
    px_call_turn(on_heard, heard);
}

static void on_any(size_t handler, pmix_status_t status,
                   const pmix_proc_t *source, pmix_info_t info[], size_t infos,
                   pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)handler;
    (void)results;
    (void)nresults;
    event.last = NULL;
    if (px_caller()->tool.nspace[0] != '\0' &&
        PMIX_CHECK_PROCID(source, &px_caller()->tool))
        hear(status, source, info, infos);
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

pmix_status_t px_event_upcall(pmix_status_t code, const pmix_proc_t *source,
                              pmix_data_range_t range, pmix_info_t info[],
                              size_t infos, pmix_op_cbfunc_t answer, void *arg)
{
    (void)code;
    (void)source;
    (void)info;
    (void)infos;
    (void)answer;
    (void)arg;
    if (event.last != NULL)
        event.last->is_private =
            range == PMIX_RANGE_RM || range == PMIX_RANGE_PROC_LOCAL;
    return PMIX_OPERATION_SUCCEEDED;
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

/* --- to the tool */

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

/* Takes it over. */
static int tell(pmix_status_t code, struct told *told)
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
    return tell(px_info_status(code), told);
}

static bool unpack(pmix_data_buffer_t *from, void *out, size_t count,
                   pmix_data_type_t type)
{
    int32_t left = (int32_t)count;

    return PMIx_Data_unpack(NULL, from, out, &left, type) == PMIX_SUCCESS &&
           (size_t)left == count;
}

/* A count that such a buffer cannot hold is no count. */
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

/* False: memory is out. */
static bool copy(pmix_data_buffer_t *out, const void *mem, size_t len_bytes)
{
    char *block = malloc(len_bytes);

    PMIX_DATA_BUFFER_CONSTRUCT(out);
    if (block == NULL)
        return false;
    memcpy(block, mem, len_bytes);
    PMIX_DATA_BUFFER_LOAD(out, block, len_bytes); /* the block is its own */
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
    if (!copy(&bytes, (const uint8_t *)mem + HEAD_BYTES,
              len_bytes - HEAD_BYTES)) {
        free(told);
        return OV_ENOMEM;
    }
    is_read = unpack_event(&bytes, &code, told);
    PMIX_DATA_BUFFER_DESTRUCT(&bytes);
    if (is_read)
        return tell(code, told);
    on_told(PMIX_ERROR, told);
    return OV_EPROTO;
}
