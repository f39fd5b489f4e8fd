/* Writing JSON with jansson. */
#include "commands/sim_json.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "overlay/base/err.h"

static const char *const ends[] = {
    [SIM_END_WELL] = "well",
    [SIM_END_LOSS] = "loss",
    [SIM_END_STUCK] = "stuck",
    [SIM_END_BROKEN] = "broken",
};

/* A number, or null for SIM_NEVER. */
static void add(json_t *object, const char *key, uint64_t value)
{
    json_object_set_new(object, key,
                        value == SIM_NEVER ? json_null()
                                           : json_integer((json_int_t)value));
}

static json_t *level_json(const struct sim_level *level)
{
    json_t *object = json_object();
    bool reads = level->stdin_first_ns != SIM_NEVER;
    bool shows = level->shown_first_ns != SIM_NEVER;

    add(object, "nodes", level->nodes);
    add(object, "stdin_first_ns", level->stdin_first_ns);
    add(object, "stdin_last_ns", reads ? level->stdin_last_ns : SIM_NEVER);
    add(object, "shown_first_ns", level->shown_first_ns);
    add(object, "shown_last_ns", shows ? level->shown_last_ns : SIM_NEVER);
    add(object, "down_bytes", level->down_bytes);
    add(object, "up_bytes", level->up_bytes);
    add(object, "word_bytes", level->link_bytes);
    add(object, "word_frames", level->link_frames);
    add(object, "held_frames_peak", level->held_frames_peak);
    add(object, "held_bytes_peak", level->held_bytes_peak);
    return object;
}

static json_t *repair_json(const struct sim_tally *tally)
{
    json_t *object = json_object();

    for (unsigned i = 0; i < SIM_COUNTS; i++)
        add(object, sim_count_name((enum sim_count)i), tally->count[i]);
    return object;
}

static void add_events(json_t *object, const struct sim_summary *run)
{
    json_t *event;

    if (run->stall_ns != SIM_NEVER) {
        event = json_object();
        add(event, "at_ns", run->stall_ns);
        add(event, "rank", run->stall_rank);
        json_object_set_new(object, "stall", event);
    }
    if (run->lost_ns != SIM_NEVER) {
        event = json_object();
        add(event, "at_ns", run->lost_ns);
        add(event, "node", run->lost);
        add(event, "given_up", run->given_up);
        json_object_set_new(object, "loss", event);
    }
}

static json_t *run_json(const struct sim_summary *run)
{
    json_t *object = json_object(), *levels = json_array();
    char digest[17];

    snprintf(digest, sizeof(digest), "%016" PRIx64, run->digest);
    add(object, "nodes", run->nodes);
    add(object, "arity", run->arity);
    add(object, "seed", run->seed);
    add(object, "stdin_bytes", run->stdin_bytes);
    add(object, "output_bytes", run->out_bytes);
    json_object_set_new(object, "end", json_string(ends[run->end]));
    if (run->end == SIM_END_STUCK)
        json_object_set_new(object, "limit",
                            json_string(run->is_stopped ? "real" : "virtual"));
    if (run->why[0] != '\0')
        json_object_set_new(object, "broken", json_string(run->why));
    add(object, "joined_ns", run->joined_ns);
    add(object, "stdin_ns", run->stdin_ns);
    add(object, "shown_ns", run->shown_ns);
    add(object, "end_ns", run->end_ns);
    add(object, "down_rate", run->down_rate);
    add(object, "up_rate", run->up_rate);
    add(object, "root_out_bytes", run->root_out_bytes);
    add(object, "root_in_bytes", run->root_in_bytes);
    add(object, "word_frames", run->word_frames);
    add(object, "word_bytes", run->word_bytes);
    add(object, "held_frames_peak", run->held_frames_peak);
    add(object, "held_bytes_peak", run->held_bytes_peak);
    add(object, "leaf_bytes", run->leaf_bytes);
    add(object, "steps", run->steps);
    add(object, "frames", run->frames);
    add(object, "heartbeats", run->beats);
    add(object, "root_heartbeats", run->root_beats);
    json_object_set_new(object, "repair", repair_json(&run->repair));
    json_object_set_new(object, "digest", json_string(digest));
    add_events(object, run);
    for (uint32_t i = 0; i < run->levels; i++)
        json_array_append_new(levels, level_json(&run->level[i]));
    json_object_set_new(object, "levels", levels);
    return object;
}

static FILE *open_file(const char *path, int fd)
{
    if (fd >= 0)
        return fdopen(fd, "w");
    return strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
}

int sim_json_write(const char *path, int fd, const struct sim_summary *runs,
                   uint32_t count)
{
    json_t *root = json_object(), *list = json_array();
    FILE *file = open_file(path, fd);
    int rc = 0;

    json_object_set_new(root, "version", json_string(PACKAGE_VERSION));
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, run_json(&runs[i]));
    if (json_object_set_new(root, "runs", list))
        rc = OV_ENOMEM;
    if (file == NULL || (rc == 0 && json_dumpf(root, file, JSON_INDENT(1))))
        rc = OV_ESYS;
    json_decref(root);
    if (file == NULL)
        return rc;
    fputc('\n', file);
    if (file == stdout ? fflush(file) : fclose(file))
        rc = OV_ESYS;
    return rc;
}
