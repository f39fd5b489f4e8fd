/* Reads the directives of pulls and pushes. */
#include "pmix_api/helper/lib/wish.h"

#include "pmix_api/helper/lib/lib.h"
#include "pmix_api/helper/lib/flag.h"
#include "pmix_api/helper/lib/refused.h"

/* Directives that are accepted for a pull. Only the first SERVED have an
 * effect. */
static const char *const of_pull[] = {
    PMIX_IOF_COPY, PMIX_IOF_REDIRECT, PMIX_IOF_CACHE_SIZE, PMIX_IOF_DROP_OLDEST,
    PMIX_IOF_DROP_NEWEST, PMIX_IOF_COMPLETE, PMIX_IOF_BUFFERING_SIZE,
    PMIX_IOF_BUFFERING_TIME,
    /* These have no effect: bytes are not changed in any case, and the tool's
     * library shows them when the tool has no callback. */
    PMIX_IOF_OUTPUT_RAW, PMIX_IOF_LOCAL_OUTPUT};

/* Directives that are accepted for a push. (Those about buffering are hints
 * that have no effect, as bytes are sent at once.) */
static const char *const of_push[] = {PMIX_IOF_PUSH_STDIN, PMIX_IOF_COMPLETE};

enum {
    SERVED = 8,
    OF_PULL = sizeof(of_pull) / sizeof(of_pull[0]),
    OF_PUSH = sizeof(of_push) / sizeof(of_push[0]),
};

const char *px_wish_key(size_t index)
{
    return index < SERVED ? of_pull[index] : NULL;
}

const char *px_push_key(size_t index)
{
    return index < OF_PUSH ? of_push[index] : NULL;
}

static bool read_number(const pmix_info_t *info, uint64_t *out)
{
    const pmix_value_t *value = &info->value;

    if (value->type == PMIX_UINT32)
        *out = value->data.uint32;
    else if (value->type == PMIX_UINT64)
        *out = value->data.uint64;
    else if (value->type == PMIX_SIZE)
        *out = value->data.size;
    else if (value->type == PMIX_INT && value->data.integer >= 0)
        *out = (uint64_t)value->data.integer;
    else
        return false;
    return true;
}

static bool read_flag(const pmix_info_t *info, bool is_not, bool *out)
{
    if (!px_value_is_flag(info))
        return false;
    *out = PMIX_INFO_TRUE(info) != is_not;
    return true;
}

static bool said(bool is_read, bool *has)
{
    *has |= is_read;
    return is_read;
}

/* Reads a directive of a pull. False: the value is not valid. */
static bool read_one(const pmix_info_t *info, struct px_lib_wish *wish)
{
    if (PMIX_CHECK_KEY(info, PMIX_IOF_COPY))
        return read_flag(info, false, &wish->copies);
    if (PMIX_CHECK_KEY(info, PMIX_IOF_REDIRECT))
        return read_flag(info, true, &wish->copies);
    if (PMIX_CHECK_KEY(info, PMIX_IOF_DROP_OLDEST))
        return said(read_flag(info, false, &wish->drops_oldest),
                    &wish->has_drops);
    if (PMIX_CHECK_KEY(info, PMIX_IOF_DROP_NEWEST))
        return said(read_flag(info, true, &wish->drops_oldest),
                    &wish->has_drops);
    if (PMIX_CHECK_KEY(info, PMIX_IOF_BUFFERING_SIZE))
        return said(read_number(info, &wish->buffer_bytes), &wish->has_buffer);
    if (PMIX_CHECK_KEY(info, PMIX_IOF_BUFFERING_TIME))
        return said(read_number(info, &wish->buffer_s), &wish->has_time);
    if (PMIX_CHECK_KEY(info, PMIX_IOF_CACHE_SIZE))
        return said(read_number(info, &wish->cache_bytes), &wish->has_cache);
    return true;
}

/* True for a directive that cannot be served, and for an unknown directive that
 * is required. */
static bool is_strange(const pmix_info_t *info)
{
    return px_refused_of_pull(info) ||
           (PMIX_INFO_IS_REQUIRED(info) &&
            !px_value_has_key(info, of_pull, OF_PULL));
}

void px_wish_read(const pmix_info_t info[], size_t infos,
                  struct px_lib_wish *out)
{
    for (size_t i = 0; i < infos; i++) {
        out->is_bad |= !read_one(&info[i], out);
        if (out->strange == NULL && is_strange(&info[i]))
            out->strange = info[i].key;
    }
}

static bool is_asked(const pmix_info_t *info, const char *key)
{
    return PMIX_CHECK_KEY(info, key) && PMIX_INFO_TRUE(info);
}

void px_push_wish_read(const pmix_info_t info[], size_t infos,
                       struct px_push_wish *out)
{
    for (size_t i = 0; i < infos; i++) {
        bool is_proc = PMIX_CHECK_KEY(&info[i], PMIX_IOF_PUSH_STDIN) &&
                       info[i].value.type == PMIX_PROC;

        if (is_proc)
            out->target = info[i].value.data.proc;
        out->is_collected |= is_proc || is_asked(&info[i], PMIX_IOF_PUSH_STDIN);
        out->is_complete |= is_asked(&info[i], PMIX_IOF_COMPLETE);
        if (PMIX_INFO_IS_REQUIRED(&info[i]) && out->strange == NULL &&
            !px_value_has_key(&info[i], of_push, OF_PUSH))
            out->strange = info[i].key;
    }
}
