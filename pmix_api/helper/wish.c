/* What a tool says of its pull. */
#include "pmix_api/helper/wish.h"

#include "pmix_api/helper/talk.h"
#include "pmix_api/helper/value.h"

static const char *const keys[] = {
    PMIX_IOF_COPY,           PMIX_IOF_REDIRECT,       PMIX_IOF_CACHE_SIZE,
    PMIX_IOF_DROP_OLDEST,    PMIX_IOF_DROP_NEWEST,    PMIX_IOF_COMPLETE,
    PMIX_IOF_BUFFERING_SIZE, PMIX_IOF_BUFFERING_TIME,
};

/* How the tool's library shows what comes, where it does. Files it makes none
 * of (4.2). */
static const char *const of_library[] = {
    PMIX_IOF_TAG_OUTPUT, PMIX_IOF_RANK_OUTPUT,  PMIX_IOF_TIMESTAMP_OUTPUT,
    PMIX_IOF_XML_OUTPUT, PMIX_IOF_OUTPUT_RAW,   PMIX_IOF_LOCAL_OUTPUT,
    PMIX_TAG_OUTPUT,     PMIX_TIMESTAMP_OUTPUT,
};

enum {
    KEYS = sizeof(keys) / sizeof(keys[0]),
    OF_LIBRARY = sizeof(of_library) / sizeof(of_library[0]),
};

const char *px_wish_key(size_t index)
{
    return index < KEYS ? keys[index] : NULL;
}

pmix_status_t px_wish_judge(const pmix_info_t info[], size_t infos)
{
    for (size_t i = 0; i < infos; i++) {
        if (!PMIX_INFO_IS_REQUIRED(&info[i]) ||
            px_value_has_key(&info[i], keys, KEYS) ||
            px_value_has_key(&info[i], of_library, OF_LIBRARY))
            continue;
        px_talk_note("a pull is refused: %s is not supported", info[i].key);
        return PMIX_ERR_NOT_SUPPORTED;
    }
    return PMIX_SUCCESS;
}

static pmix_status_t read_number(const pmix_info_t *info, uint64_t *out)
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
        return PMIX_ERR_BAD_PARAM;
    return PMIX_SUCCESS;
}

static pmix_status_t read_flag(const pmix_info_t *info, bool is_not, bool *out)
{
    if (!px_value_is_flag(info))
        return PMIX_ERR_BAD_PARAM;
    *out = PMIX_INFO_TRUE(info) != is_not;
    return PMIX_SUCCESS;
}

static pmix_status_t read_one(const pmix_info_t *info, struct px_wish *wish)
{
    pmix_status_t rc;

    if (PMIX_CHECK_KEY(info, PMIX_IOF_COPY))
        return read_flag(info, false, &wish->copies);
    if (PMIX_CHECK_KEY(info, PMIX_IOF_REDIRECT))
        return read_flag(info, true, &wish->copies);
    if (PMIX_CHECK_KEY(info, PMIX_IOF_DROP_OLDEST))
        return read_flag(info, false, &wish->drops_oldest);
    if (PMIX_CHECK_KEY(info, PMIX_IOF_DROP_NEWEST))
        return read_flag(info, true, &wish->drops_oldest);
    if (PMIX_CHECK_KEY(info, PMIX_IOF_BUFFERING_SIZE))
        return read_number(info, &wish->buffer_bytes);
    if (PMIX_CHECK_KEY(info, PMIX_IOF_BUFFERING_TIME))
        return read_number(info, &wish->buffer_s);
    if (!PMIX_CHECK_KEY(info, PMIX_IOF_CACHE_SIZE))
        return PMIX_SUCCESS;
    rc = read_number(info, &wish->cache_bytes);
    wish->has_cache |= rc == PMIX_SUCCESS;
    return rc;
}

pmix_status_t px_wish_read(const pmix_info_t info[], size_t infos,
                           struct px_wish *wish)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < infos; i++) {
        pmix_status_t why = read_one(&info[i], wish);

        if (rc == PMIX_SUCCESS)
            rc = why;
    }
    return rc;
}
