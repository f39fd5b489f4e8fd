/* Lists of hosts: an array, the names in one text, and a hash table. */
#include "topo/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

enum { ITEMS_FIRST = 16, TEXT_FIRST = 256, INDEX_FIRST = 32 };

void topo_hosts_init(struct topo_hosts *hosts)
{
    *hosts = (struct topo_hosts){0};
}

void topo_hosts_fini(struct topo_hosts *hosts)
{
    free(hosts->items);
    free(hosts->text);
    free(hosts->index);
    topo_hosts_init(hosts);
}

bool topo_host_has(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' ||
           c == '@';
}

static bool is_name(const char *name, size_t len_bytes)
{
    if (len_bytes == 0 || len_bytes >= TOPO_HOST_NAME_MAX || name[0] == '-')
        return false;
    for (size_t i = 0; i < len_bytes; i++) {
        if (!topo_host_has(name[i]))
            return false;
    }
    return true;
}

/* The hash FNV-1a of a name. */
static uint32_t hash_name(const char *name, size_t len_bytes)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < len_bytes; i++)
        hash = (hash ^ (uint8_t)name[i]) * 16777619u;
    return hash ^ hash >> 15;
}

/* The entry of the hash table that has the name, or the empty entry where it
 * belongs. */
static uint32_t *index_slot(const struct topo_hosts *hosts, const char *name,
                            size_t len_bytes)
{
    uint32_t mask = hosts->index_max - 1;
    uint32_t at = hash_name(name, len_bytes) & mask;

    for (;; at = (at + 1) & mask) {
        uint32_t entry = hosts->index[at];

        if (entry == 0)
            return &hosts->index[at];

        const char *other = topo_hosts_name(hosts, entry - 1);

        if (strlen(other) == len_bytes && memcmp(other, name, len_bytes) == 0)
            return &hosts->index[at];
    }
}

/* Makes room for one more entry in a table that stays at most half full. */
static int index_grow(struct topo_hosts *hosts)
{
    uint32_t max = hosts->index_max == 0 ? INDEX_FIRST : hosts->index_max * 2;

    if (hosts->count < hosts->index_max / 2)
        return 0;

    uint32_t *index = calloc(max, sizeof(*index));

    if (index == NULL)
        return OV_ENOMEM;
    free(hosts->index);
    hosts->index = index;
    hosts->index_max = max;
    for (uint32_t i = 0; i < hosts->count; i++) {
        const char *name = topo_hosts_name(hosts, i);

        *index_slot(hosts, name, strlen(name)) = i + 1;
    }
    return 0;
}

/* Makes room for one more host whose name has len_bytes. */
static int hosts_grow(struct topo_hosts *hosts, size_t len_bytes)
{
    if (hosts->count == hosts->items_max) {
        uint32_t max =
            hosts->items_max == 0 ? ITEMS_FIRST : hosts->items_max * 2;
        struct topo_host *items = realloc(hosts->items, max * sizeof(*items));

        if (items == NULL)
            return OV_ENOMEM;
        hosts->items = items;
        hosts->items_max = max;
    }
    if (hosts->text_max - hosts->text_bytes < len_bytes + 1) {
        uint32_t max = hosts->text_max == 0 ? TEXT_FIRST : hosts->text_max * 2;
        char *text = realloc(hosts->text, max);

        if (text == NULL)
            return OV_ENOMEM;
        hosts->text = text;
        hosts->text_max = max;
    }
    return index_grow(hosts);
}

/* Adds slots to a host that is named again. */
static int add_slots(struct topo_host *host, uint32_t slots)
{
    uint32_t sum =
        (host->slots > 0 ? host->slots : 1) + (slots > 0 ? slots : 1);

    if (sum > TOPO_SLOTS_MAX)
        return OV_EFULL;
    host->slots = sum;
    return 0;
}

int topo_hosts_add(struct topo_hosts *hosts, const char *name, size_t len_bytes,
                   uint32_t slots)
{
    if (!is_name(name, len_bytes) || slots > TOPO_SLOTS_MAX)
        return OV_EINVAL;

    uint32_t known = topo_hosts_find(hosts, name, len_bytes);

    if (known != TOPO_NONE)
        return add_slots(&hosts->items[known], slots);
    if (hosts->count == TOPO_HOSTS_MAX)
        return OV_EFULL;

    int rc = hosts_grow(hosts, len_bytes);

    if (rc != 0)
        return rc;
    hosts->items[hosts->count] = (struct topo_host){hosts->text_bytes, slots};
    memcpy(hosts->text + hosts->text_bytes, name, len_bytes);
    hosts->text[hosts->text_bytes + len_bytes] = '\0';
    hosts->text_bytes += (uint32_t)len_bytes + 1;
    *index_slot(hosts, name, len_bytes) = ++hosts->count;
    return 0;
}

const char *topo_hosts_name(const struct topo_hosts *hosts, uint32_t i)
{
    return hosts->text + hosts->items[i].name_at;
}

uint32_t topo_hosts_find(const struct topo_hosts *hosts, const char *name,
                         size_t len_bytes)
{
    if (hosts->count == 0)
        return TOPO_NONE;

    uint32_t entry = *index_slot(hosts, name, len_bytes);

    return entry == 0 ? TOPO_NONE : entry - 1;
}
