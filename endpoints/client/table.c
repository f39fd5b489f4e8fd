/* Keeps the table of a job's processes. */
#include "endpoints/client/table.h"

#include <stdlib.h>
#include <string.h>

#include "job/door.h"
#include "overlay/base/err.h"

struct ep_table {
    uint32_t base, size, ended;
    struct ep_table_place *places; /* owned, with their names */
    uint32_t count, room;
    /* Owned [size]; a status of JOB_DOOR_RUNS: the process has not ended. */
    uint32_t *pids, *statuses;
    char *command; /* owned, or NULL */
};

struct ep_table *ep_table_open(uint32_t base, uint32_t size)
{
    struct ep_table *table = calloc(1, sizeof(*table));

    if (table == NULL)
        return NULL;
    table->base = base;
    table->size = size;
    table->pids = calloc((size_t)size + 1, sizeof(*table->pids));
    table->statuses = malloc(((size_t)size + 1) * sizeof(*table->statuses));
    if (table->pids == NULL || table->statuses == NULL) {
        ep_table_close(table);
        return NULL;
    }
    for (uint32_t i = 0; i < size; i++)
        table->statuses[i] = JOB_DOOR_RUNS;
    return table;
}

/* Frees the names of a place, except a name that equals that of the place
 * before, which owns the string for both. */
static void free_place(struct ep_table *table, uint32_t index)
{
    const struct ep_table_place *place = &table->places[index];

    if (index == 0 || place->host != place[-1].host)
        free(place->host);
    if (index == 0 || place->program != place[-1].program)
        free(place->program);
}

static void free_places(struct ep_table *table, uint32_t kept)
{
    while (table->count > kept)
        free_place(table, --table->count);
}

void ep_table_close(struct ep_table *table)
{
    if (table == NULL)
        return;
    free_places(table, 0);
    free(table->places);
    free(table->command);
    free(table->pids);
    free(table->statuses);
    free(table);
}

void ep_table_cut(struct ep_table *table)
{
    free_places(table, 1);
    free(table->pids);
    free(table->statuses);
    table->pids = table->statuses = NULL;
    table->size = 0;
}

/* --- messages of the launcher */

static bool has_room(struct ep_table *table)
{
    uint32_t room = table->room > 0 ? 2 * table->room : 4;
    struct ep_table_place *grown;

    if (table->count < table->room)
        return true;
    grown = realloc(table->places, room * sizeof(*grown));
    if (grown == NULL)
        return false;
    table->places = grown;
    table->room = room;
    return true;
}

static char *share_name(const char *name, char *before)
{
    return before != NULL && strcmp(before, name) == 0 ? before : strdup(name);
}

static int add_place(struct ep_table *table, const struct job_door *msg)
{
    static const struct ep_table_place none = {.host = NULL};
    const struct ep_table_place *before = &none;
    struct ep_table_place *place;

    if (!has_room(table))
        return OV_ENOMEM;
    if (table->count > 0)
        before = &table->places[table->count - 1];
    place = &table->places[table->count];
    *place = (struct ep_table_place){
        .host = share_name(msg->host, before->host),
        .program = share_name(msg->text, before->program),
        .first = msg->first - table->base,
        .count = msg->count,
    };
    if (place->host == NULL || place->program == NULL) {
        free_place(table, table->count);
        return OV_ENOMEM;
    }
    table->count++;
    return 0;
}

static void add_numbers(struct ep_table *table, const struct job_door *msg,
                        uint32_t count)
{
    const uint32_t first = msg->first - table->base;
    uint32_t *numbers =
        msg->kind == JOB_DOOR_PIDS ? table->pids : table->statuses;
    struct ov_rd rest = msg->rest;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = ov_rd_u32(&rest);

        table->ended += msg->kind == JOB_DOOR_EXITS &&
                        number != JOB_DOOR_RUNS &&
                        numbers[first + i] == JOB_DOOR_RUNS;
        numbers[first + i] = number;
    }
}

static int set_command(struct ep_table *table, const char *text)
{
    free(table->command);
    table->command = strdup(text);
    return table->command != NULL ? 0 : OV_ENOMEM;
}

int ep_table_add(struct ep_table *table, const struct job_door *msg)
{
    const bool is_place = msg->kind == JOB_DOOR_PLACE;
    const size_t count =
        is_place ? msg->count : ov_rd_left(&msg->rest) / JOB_DOOR_NUMBER_BYTES;

    if (msg->kind == JOB_DOOR_DESCRIBED)
        return set_command(table, msg->text);
    if (msg->first - table->base > table->size ||
        count > table->size - (msg->first - table->base))
        return OV_EPROTO;
    if (is_place)
        return add_place(table, msg);
    add_numbers(table, msg, (uint32_t)count);
    return 0;
}

/* --- reading the table */

const struct ep_table_place *ep_table_at(const struct ep_table *table,
                                         uint32_t index)
{
    return index < table->count ? &table->places[index] : NULL;
}

const char *ep_table_command(const struct ep_table *table)
{
    return table->command != NULL ? table->command : "";
}

static int compare(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;

    return strcmp(*left, *right);
}

const char *ep_table_host(const struct ep_table *table, uint32_t node)
{
    const char **hosts = calloc((size_t)table->count + 1, sizeof(*hosts));
    const char *host = NULL;
    uint32_t count = 0;

    if (hosts == NULL)
        return NULL;
    for (uint32_t i = 0; i < table->count; i++)
        hosts[i] = table->places[i].host;
    qsort(hosts, table->count, sizeof(*hosts), compare);
    for (uint32_t i = 0; host == NULL && i < table->count; i++) {
        if (i > 0 && strcmp(hosts[i - 1], hosts[i]) == 0)
            continue;
        if (count++ == node)
            host = hosts[i];
    }
    free(hosts);
    return host;
}

int32_t ep_table_pid(const struct ep_table *table, uint32_t rank)
{
    return (int32_t)table->pids[rank];
}

bool ep_table_exit(const struct ep_table *table, uint32_t rank, int *status)
{
    *status = (int)table->statuses[rank];
    return table->statuses[rank] != JOB_DOOR_RUNS;
}

bool ep_table_has_ended(const struct ep_table *table)
{
    return table->ended == table->size;
}
