/* Applies the directives of PMIx_Spawn about the nodes on which processes run.
 */
#include "pmix_api/helper/lib/mapping.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The text of an info's value; NULL: the value is no text. */
static const char *string_of(const pmix_info_t *info)
{
    return info->value.type == PMIX_STRING ? info->value.data.string : NULL;
}

/* The kind of object with this name; TOPO_OBJECTS: it is unknown, or xylem does
 * not count such objects. */
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

/* Reads "N:node" and the like. */
static enum px_lib_answer read_ppr(const char *text, struct job_wish *app)
{
    enum topo_object per;
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    if (!isdigit((unsigned char)text[0]) || number == 0 ||
        number > UINT32_MAX || *end != ':')
        return PX_LIB_BAD_PARAM;
    per = object_of(end + 1);
    if (per == TOPO_OBJECTS)
        return PX_LIB_NOT_SUPPORTED;
    app->ppn = (uint32_t)number;
    app->per = per;
    return PX_LIB_YES;
}

enum px_lib_answer px_mapping_ppr(struct px_lib_start *start,
                                  struct job_wish *app, const pmix_info_t *info)
{
    const char *text = string_of(info);

    (void)start;
    return text != NULL ? read_ppr(text, app) : PX_LIB_BAD_PARAM;
}

enum px_lib_answer px_mapping_mapby(struct px_lib_start *start,
                                    struct job_wish *app,
                                    const pmix_info_t *info)
{
    const char *text = string_of(info);

    (void)start;
    if (text == NULL)
        return PX_LIB_BAD_PARAM;
    if (strncmp(text, "ppr:", 4) == 0)
        return read_ppr(text + 4, app);
    if (strcmp(text, "slot") != 0 && strcmp(text, "node") != 0)
        return PX_LIB_NOT_SUPPORTED;
    app->map = strcmp(text, "node") == 0 ? JOB_MAP_NODES : JOB_MAP_SLOTS;
    return PX_LIB_YES;
}

/* Accepts an info whose value is one of two names of what happens in any case;
 * refuses other values. */
static enum px_lib_answer accept(const pmix_info_t *info, const char *name,
                                 const char *other)
{
    const char *text = string_of(info);

    if (text == NULL)
        return PX_LIB_BAD_PARAM;
    return strcmp(text, name) == 0 || strcmp(text, other) == 0
               ? PX_LIB_YES
               : PX_LIB_NOT_SUPPORTED;
}

/* Accepts only the order of ranks in blocks, node by node: any other order
 * would need a list of ranks for each node. */
enum px_lib_answer px_mapping_rankby(struct px_lib_start *start,
                                     struct job_wish *app,
                                     const pmix_info_t *info)
{
    (void)start;
    (void)app;
    return accept(info, "slot", "fill");
}

/* Accepts only that processes are not bound: those of a job that a tool starts
 * may run anywhere on their node. */
enum px_lib_answer px_mapping_bindto(struct px_lib_start *start,
                                     struct job_wish *app,
                                     const pmix_info_t *info)
{
    (void)start;
    (void)app;
    return accept(info, "none", "none");
}

/* Removes the endings of HOST:* and HOST:auto, because HOST alone means the
 * same: all slots of the host. */
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

enum px_lib_answer px_mapping_hosts(struct px_lib_start *start,
                                    struct job_wish *app,
                                    const pmix_info_t *info)
{
    const char *text = string_of(info);
    char *copy;

    if (text == NULL || text[0] == '\0')
        return PX_LIB_BAD_PARAM;
    copy = px_start_keep(start, strdup(text));
    if (copy == NULL)
        return PX_LIB_NO_RESOURCE;
    if (PMIX_CHECK_KEY(info, PMIX_HOST) || PMIX_CHECK_KEY(info, PMIX_ADD_HOST))
        drop_all_slots(copy);
    *field_of(app, info) = copy;
    return PX_LIB_YES;
}
