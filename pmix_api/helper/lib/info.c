/* Converts infos of libpmix to the types of value.h, and back. */
#include "pmix_api/helper/lib/info.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pmix_api/helper/lib/key.h"

#define SAME(ours, theirs)                                                     \
    _Static_assert(__builtin_strcmp(ours, theirs) == 0, "the same key")

SAME(PX_KEY_NAMESPACES, PMIX_QUERY_NAMESPACES);
SAME(PX_KEY_NAMESPACE_INFO, PMIX_QUERY_NAMESPACE_INFO);
SAME(PX_KEY_JOB_STATUS, PMIX_QUERY_JOB_STATUS);
SAME(PX_KEY_PROC_TABLE, PMIX_QUERY_PROC_TABLE);
SAME(PX_KEY_LOCAL_TABLE, PMIX_QUERY_LOCAL_PROC_TABLE);
SAME(PX_KEY_SPAWN_SUPPORT, PMIX_QUERY_SPAWN_SUPPORT);
SAME(PX_KEY_DEBUG_SUPPORT, PMIX_QUERY_DEBUG_SUPPORT);
SAME(PX_KEY_SUPPORTED_KEYS, PMIX_QUERY_SUPPORTED_KEYS);
SAME(PX_KEY_LOCAL_PEERS, PMIX_LOCAL_PEERS);
SAME(PX_KEY_LOCAL_PROCS, PMIX_LOCAL_PROCS);
SAME(PX_KEY_LOCAL_SIZE, PMIX_LOCAL_SIZE);
SAME(PX_KEY_JOB_SIZE, PMIX_JOB_SIZE);
SAME(PX_KEY_EXIT_CODE, PMIX_EXIT_CODE);
SAME(PX_KEY_NSPACE, PMIX_NSPACE);
SAME(PX_KEY_PROCID, PMIX_PROCID);
SAME(PX_KEY_RANK, PMIX_RANK);
SAME(PX_KEY_HOSTNAME, PMIX_HOSTNAME);
SAME(PX_KEY_NODEID, PMIX_NODEID);
SAME(PX_KEY_REFRESH_CACHE, PMIX_QUERY_REFRESH_CACHE);
SAME(PX_KEY_INFO_ARRAY, PMIX_JOB_INFO_ARRAY);
SAME(PX_KEY_CMD_LINE, PMIX_CMD_LINE);
SAME(PX_KEY_AFFECTED, PMIX_EVENT_AFFECTED_PROC);
SAME(PX_KEY_TIMESTAMP, PMIX_EVENT_TIMESTAMP);
SAME(PX_KEY_TERM_STATUS, PMIX_JOB_TERM_STATUS);
SAME(PX_KEY_DO_NOT_CACHE, PMIX_EVENT_DO_NOT_CACHE);

_Static_assert(PX_LIB_ALL == PMIX_RANK_WILDCARD, "the same rank");
_Static_assert(PX_LIB_UNDEFINED == PMIX_RANK_UNDEF, "the same rank");
_Static_assert(PX_LIB_LOCAL_NODE == PMIX_RANK_LOCAL_NODE, "the same rank");
_Static_assert(PX_LIB_LOCAL_PEERS == PMIX_RANK_LOCAL_PEERS, "the same rank");
_Static_assert(sizeof(pmix_nspace_t) == PX_LIB_NAME_BYTES, "the same names");

static const pmix_status_t statuses[PX_LIB_STATUSES] = {
    [PX_LIB_SUCCESS] = PMIX_SUCCESS,
    [PX_LIB_JOB_START] = PMIX_EVENT_JOB_START,
    [PX_LIB_LAUNCH_COMPLETE] = PMIX_LAUNCH_COMPLETE,
    [PX_LIB_JOB_END] = PMIX_EVENT_JOB_END,
    [PX_LIB_IOF_FAILURE] = PMIX_ERR_IOF_FAILURE,
    [PX_LIB_JOB_ABORTED] = PMIX_ERR_JOB_ABORTED,
    [PX_LIB_JOB_NON_ZERO] = PMIX_ERR_JOB_NON_ZERO_TERM,
    [PX_LIB_JOB_SIGNALLED] = PMIX_ERR_JOB_ABORTED_BY_SIG,
};

static const pmix_proc_state_t states[PX_LIB_STATES] = {
    [PX_LIB_STARTING] = PMIX_PROC_STATE_LAUNCH_UNDERWAY,
    [PX_LIB_RUNNING] = PMIX_PROC_STATE_RUNNING,
    [PX_LIB_ENDED] = PMIX_PROC_STATE_TERMINATED,
    [PX_LIB_KILLED] = PMIX_PROC_STATE_ABORTED_BY_SIG,
};

pmix_status_t px_info_status(enum px_lib_status status)
{
    return statuses[status];
}

/* --- from the tool */

void px_info_name(const pmix_proc_t *proc, struct px_lib_name *out)
{
    memcpy(out->nspace, proc->nspace, sizeof(out->nspace));
    out->nspace[sizeof(out->nspace) - 1] = '\0';
    out->rank = proc->rank;
}

struct px_lib_name *px_info_names(const pmix_proc_t *procs, size_t count)
{
    struct px_lib_name *names = calloc(count + 1, sizeof(*names));

    for (size_t i = 0; names != NULL && i < count; i++)
        px_info_name(&procs[i], &names[i]);
    return names;
}

static void set_number(struct px_lib_value *out, enum px_lib_width width,
                       uint64_t number)
{
    out->type = PX_LIB_NUMBER;
    out->width = width;
    out->as.number = number;
}

/* Reads a number. False: the value is no number, or below 0. (Some tools send
 * ranks as int32_t, also the special ranks, which are then negative.) */
static bool read_number(const pmix_value_t *from, struct px_lib_value *out)
{
    if (from->type == PMIX_UINT32)
        set_number(out, PX_LIB_U32, from->data.uint32);
    else if (from->type == PMIX_INT32)
        set_number(out, PX_LIB_U32, (uint32_t)from->data.int32);
    else if (from->type == PMIX_UINT16)
        set_number(out, PX_LIB_U16, from->data.uint16);
    else if (from->type == PMIX_UINT64)
        set_number(out, PX_LIB_U64, from->data.uint64);
    else if (from->type == PMIX_SIZE)
        set_number(out, PX_LIB_SIZE, from->data.size);
    else if (from->type == PMIX_INT && from->data.integer >= 0)
        set_number(out, PX_LIB_INT, (uint64_t)from->data.integer);
    else
        return false;
    return true;
}

static void read_value(const pmix_value_t *from, struct px_lib_value *out,
                       struct px_lib_name *name)
{
    if (read_number(from, out))
        return;
    if (from->type == PMIX_BOOL || from->type == PMIX_UNDEF) {
        out->type = PX_LIB_FLAG;
        out->as.flag = from->type == PMIX_UNDEF || from->data.flag;
    } else if (from->type == PMIX_STRING && from->data.string != NULL) {
        out->type = PX_LIB_TEXT;
        out->as.text = from->data.string;
    } else if (from->type == PMIX_PROC_RANK) {
        out->type = PX_LIB_RANK;
        out->as.rank = from->data.rank;
    } else if (from->type == PMIX_PROC && from->data.proc != NULL) {
        px_info_name(from->data.proc, name);
        out->type = PX_LIB_NAME;
        out->as.names = name;
        out->count = 1;
    }
}

struct px_lib_info *px_info_read(const pmix_info_t info[], size_t count)
{
    size_t names = 0;
    struct px_lib_info *out;
    struct px_lib_name *name;

    for (size_t i = 0; i < count; i++)
        names += info[i].value.type == PMIX_PROC;
    out = calloc(1, (count + 1) * sizeof(*out) + names * sizeof(*name));
    if (out == NULL)
        return NULL;
    name = (struct px_lib_name *)(out + count + 1);
    for (size_t i = 0; i < count; i++) {
        out[i].key = info[i].key;
        out[i].is_required = PMIX_INFO_IS_REQUIRED(&info[i]);
        read_value(&info[i].value, &out[i].value, name);
        name += info[i].value.type == PMIX_PROC;
    }
    return out;
}

/* --- to the tool */

static bool load(pmix_info_t *out, const struct px_lib_info *from);

static bool load_number(pmix_value_t *out, const struct px_lib_value *from)
{
    switch (from->width) {
    case PX_LIB_U32:
        out->type = PMIX_UINT32;
        out->data.uint32 = (uint32_t)from->as.number;
        break;
    case PX_LIB_U16:
        out->type = PMIX_UINT16;
        out->data.uint16 = (uint16_t)from->as.number;
        break;
    case PX_LIB_U64:
        out->type = PMIX_UINT64;
        out->data.uint64 = from->as.number;
        break;
    case PX_LIB_SIZE:
        out->type = PMIX_SIZE;
        out->data.size = from->as.number;
        break;
    case PX_LIB_INT:
        out->type = PMIX_INT;
        out->data.integer = (int)from->as.number;
        break;
    }
    return true;
}

static bool load_text(pmix_value_t *out, const char *text)
{
    out->type = PMIX_STRING;
    out->data.string = strdup(text);
    return out->data.string != NULL;
}

static void load_name(pmix_proc_t *out, const struct px_lib_name *from)
{
    PMIX_LOAD_PROCID(out, from->nspace, from->rank);
}

static bool load_process(pmix_proc_info_t *out,
                         const struct px_lib_process *from)
{
    PMIX_LOAD_PROCID(&out->proc, from->nspace, from->rank);
    out->hostname = strdup(from->host);
    out->executable_name = strdup(from->program);
    out->pid = from->pid;
    out->state = states[from->state];
    out->exit_code = from->exit_code;
    return out->hostname != NULL && out->executable_name != NULL;
}

/* Makes the value an array with zeroed items, and returns the items. NULL:
 * memory is out. */
static void *make_array(pmix_value_t *out, size_t count, size_t each,
                        pmix_data_type_t type)
{
    pmix_data_array_t *array = calloc(1, sizeof(*array));
    void *items = calloc(count + 1, each);

    if (array == NULL || items == NULL) {
        free(array);
        free(items);
        return NULL;
    }
    array->type = type;
    array->size = count;
    array->array = items;
    out->type = PMIX_DATA_ARRAY;
    out->data.darray = array;
    return items;
}

static bool load_names(pmix_value_t *out, const struct px_lib_value *from)
{
    pmix_proc_t *procs =
        make_array(out, from->count, sizeof(*procs), PMIX_PROC);

    for (size_t i = 0; procs != NULL && i < from->count; i++)
        load_name(&procs[i], &from->as.names[i]);
    return procs != NULL;
}

static bool load_table(pmix_value_t *out, const struct px_lib_value *from)
{
    pmix_proc_info_t *table =
        make_array(out, from->count, sizeof(*table), PMIX_PROC_INFO);
    bool is_done = table != NULL;

    for (size_t i = 0; is_done && i < from->count; i++)
        is_done = load_process(&table[i], &from->as.table[i]);
    return is_done;
}

static bool load_infos(pmix_value_t *out, const struct px_lib_value *from)
{
    pmix_info_t *infos =
        make_array(out, from->count, sizeof(*infos), PMIX_INFO);
    bool is_done = infos != NULL;

    for (size_t i = 0; is_done && i < from->count; i++)
        is_done = load(&infos[i], &from->as.infos[i]);
    return is_done;
}

static bool load_one_name(pmix_value_t *out, const struct px_lib_name *from)
{
    out->type = PMIX_PROC;
    PMIX_PROC_CREATE(out->data.proc, 1);
    if (out->data.proc != NULL)
        load_name(out->data.proc, from);
    return out->data.proc != NULL;
}

static bool load_value(pmix_value_t *out, const struct px_lib_value *from)
{
    switch (from->type) {
    case PX_LIB_OTHER:
        return false;
    case PX_LIB_FLAG:
        out->type = PMIX_BOOL;
        out->data.flag = from->as.flag;
        return true;
    case PX_LIB_NUMBER:
        return load_number(out, from);
    case PX_LIB_TEXT:
        return load_text(out, from->as.text);
    case PX_LIB_NAME:
        return load_one_name(out, from->as.names);
    case PX_LIB_RANK:
        out->type = PMIX_PROC_RANK;
        out->data.rank = from->as.rank;
        return true;
    case PX_LIB_TIME:
        out->type = PMIX_TIME;
        out->data.time = (time_t)from->as.time_s;
        return true;
    case PX_LIB_STATUS:
        out->type = PMIX_STATUS;
        out->data.status = statuses[from->as.status];
        return true;
    case PX_LIB_NAMES:
        return load_names(out, from);
    case PX_LIB_TABLE:
        return load_table(out, from);
    case PX_LIB_INFOS:
        return load_infos(out, from);
    }
    return false;
}

static bool load(pmix_info_t *out, const struct px_lib_info *from)
{
    PMIX_LOAD_KEY(out->key, from->key);
    if (from->is_required)
        PMIX_INFO_REQUIRED(out);
    return load_value(&out->value, &from->value);
}

pmix_info_t *px_info_make(const struct px_lib_info *infos, size_t count)
{
    pmix_info_t *out = NULL;
    bool is_done;

    if (count > 0)
        PMIX_INFO_CREATE(out, count);
    is_done = out != NULL;
    for (size_t i = 0; is_done && i < count; i++)
        is_done = load(&out[i], &infos[i]);
    if (!is_done && out != NULL)
        PMIX_INFO_FREE(out, count);
    return is_done ? out : NULL;
}
