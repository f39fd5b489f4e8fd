/* The directives of PMIx_Spawn that say on which nodes processes are. */
#include "pmix_api/helper/mapping.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* NULL: it is no text. */
static const char *string_of(const pmix_info_t *info)
{
    return info->value.type == PMIX_STRING ? info->value.data.string : NULL;
}

/* TOPO_OBJECTS: there is no such thing, or it is none that we count. */
static enum topo_object object_of(const char *word)
{
    static const struct {
        const char *word;
        enum topo_object per;
    } objects[] = {
        {"node", TOPO_NO_OBJECT},
        {"core", TOPO_CORE},
        {"socket", TOPO_SOCKET},
        {"package", TOPO_SOCKET},
    };

    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        if (strcmp(word, objects[i].word) == 0)
            return objects[i].per;
    }
    return TOPO_OBJECTS;
}

/* "N:node" and such. */
static pmix_status_t read_ppr(const char *text, struct job_wish *app)
{
    enum topo_object per;
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    if (!isdigit((unsigned char)text[0]) || number == 0 ||
        number > UINT32_MAX || *end != ':')
        return PMIX_ERR_BAD_PARAM;
    per = object_of(end + 1);
    if (per == TOPO_OBJECTS)
        return PMIX_ERR_NOT_SUPPORTED;
    app->ppn = (uint32_t)number;
    app->per = per;
    return PMIX_SUCCESS;
}

pmix_status_t px_mapping_ppr(struct px_plan *plan, struct job_wish *app,
                             const pmix_info_t *info)
{
    const char *text = string_of(info);

    (void)plan;
    return text != NULL ? read_ppr(text, app) : PMIX_ERR_BAD_PARAM;
}

pmix_status_t px_mapping_mapby(struct px_plan *plan, struct job_wish *app,
                               const pmix_info_t *info)
{
    const char *text = string_of(info);

    (void)plan;
    if (text == NULL)
        return PMIX_ERR_BAD_PARAM;
    if (strncmp(text, "ppr:", 4) == 0)
        return read_ppr(text + 4, app);
    if (strcmp(text, "slot") != 0 && strcmp(text, "node") != 0)
        return PMIX_ERR_NOT_SUPPORTED;
    app->map = strcmp(text, "node") == 0 ? JOB_MAP_NODES : JOB_MAP_SLOTS;
    return PMIX_SUCCESS;
}

/* Ranks are in blocks, node by node: with any other order a node would need a
 * list of ranks. */
pmix_status_t px_mapping_rankby(struct px_plan *plan, struct job_wish *app,
                                const pmix_info_t *info)
{
    const char *text = string_of(info);

    (void)plan;
    (void)app;
    if (text == NULL)
        return PMIX_ERR_BAD_PARAM;
    return strcmp(text, "slot") == 0 || strcmp(text, "fill") == 0
               ? PMIX_SUCCESS
               : PMIX_ERR_NOT_SUPPORTED;
}

/* A host alone and HOST:* (or :auto), with all its slots, are the same: such
 * ends are left out. */
static void drop_all_slots(char *text)
{
    static const char *const ends[] = {":*", ":auto"};
    char *to = text;

    while (*text != '\0') {
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
            size_t len = strlen(ends[i]);

            if (strncmp(text, ends[i], len) == 0 &&
                (text[len] == ',' || text[len] == '\0'))
                text += len;
        }
        if (*text != '\0')
            *to++ = *text++;
    }
    *to = '\0';
}

static const char **field_of(struct job_wish *app, const pmix_info_t *info)
{
    if (PMIX_CHECK_KEY(info, PMIX_HOST))
        return &app->hosts;
    if (PMIX_CHECK_KEY(info, PMIX_HOSTFILE))
        return &app->hostfile;
    return PMIX_CHECK_KEY(info, PMIX_ADD_HOST) ? &app->add_hosts
                                               : &app->add_hostfile;
}

pmix_status_t px_mapping_hosts(struct px_plan *plan, struct job_wish *app,
                               const pmix_info_t *info)
{
    const char *text = string_of(info);
    char *copy;

    if (text == NULL || text[0] == '\0')
        return PMIX_ERR_BAD_PARAM;
    copy = px_plan_keep(plan, strdup(text));
    if (copy == NULL)
        return PMIX_ERR_NOMEM;
    if (PMIX_CHECK_KEY(info, PMIX_HOST) || PMIX_CHECK_KEY(info, PMIX_ADD_HOST))
        drop_all_slots(copy);
    *field_of(app, info) = copy;
    return PMIX_SUCCESS;
}
