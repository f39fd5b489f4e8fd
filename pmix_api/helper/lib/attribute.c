/* Registers the supported attributes, for each function of PMIx that they
 * belong to. */
#include "pmix_api/helper/lib/attribute.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "pmix_api/helper/lib/control.h"
#include "pmix_api/helper/lib/directive.h"
#include "pmix_api/helper/lib/lib.h"
#include "pmix_api/helper/lib/log.h"
#include "pmix_api/helper/lib/wish.h"

enum { ATTRIBUTES_MAX = 128, KEYS_BYTES = 4096 };

/* Returns the index-th attribute of a function of PMIx; NULL: there are fewer.
 */
typedef const char *(*key_fn)(size_t index);

static const char *const *of_query;

static const char *query_key(size_t index)
{
    return of_query[index];
}

static const struct {
    const char *call;
    key_fn key;
} calls[] = {
    {"PMIx_IOF_pull", px_wish_key},     {"PMIx_IOF_push", px_push_key},
    {"PMIx_Job_control", px_order_key}, {"PMIx_Log", px_log_key},
    {"PMIx_Query_info", query_key},     {"PMIx_Spawn", px_start_key},
};

static void tell(const char *call, key_fn key_of)
{
    char *names[ATTRIBUTES_MAX + 1] = {NULL};
    size_t count = 0;
    const char *key;
    char copy[64];

    snprintf(copy, sizeof(copy), "%s", call);
    for (size_t i = 0; (key = key_of(i)) != NULL; i++) {
        const char *name = PMIx_Get_attribute_name(key);

        /* Names that libpmix does not know are left out, because its answer
         * would end at such a name. */
        if (count < ATTRIBUTES_MAX && strncmp(name, "PMIX_", 5) == 0)
            names[count++] = strdup(name);
    }
    PMIx_Register_attributes(copy, names);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
}

/* Registers the attributes by the standard's names, which libpmix copies. */
void px_attribute_register(const char *const *query_keys)
{
    of_query = query_keys;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        tell(calls[i].call, calls[i].key);
    of_query = NULL; /* Query keys are borrowed only until here. */
}

const char *px_lib_spawn_keys(void)
{
    static char text[KEYS_BYTES];
    const char *key;
    size_t len = 0;

    if (text[0] != '\0')
        return text;
    for (size_t i = 0; (key = px_start_key(i)) != NULL; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
                                i > 0 ? "," : "", key);
    return text;
}
