/* Asks the launcher for the tables of jobs. */
#include "pmix_api/helper/describer.h"

#include <stdlib.h>

#include "job/door.h"
#include "overlay/base/err.h"
#include "pmix_api/helper/door.h"
#include "pmix_api/helper/jobs.h"
#include "endpoints/client/table.h"

struct px_describer {
    const struct px_jobs *jobs;
    /* A list of users; the first one's question was sent, and its answer is
     * awaited. */
    struct px_describer_user *first;
    /* Owned: the rows of the table that have come so far; NULL: memory is out.
     */
    struct ep_table *table;
};

int px_describer_open(const struct px_jobs *jobs, struct px_describer **out)
{
    struct px_describer *describer = calloc(1, sizeof(*describer));

    *out = describer;
    if (describer == NULL)
        return OV_ENOMEM;
    describer->jobs = jobs;
    return 0;
}

void px_describer_close(struct px_describer *describer)
{
    if (describer == NULL)
        return;
    ep_table_close(describer->table);
    free(describer);
}

static void say_question(struct px_describer *describer)
{
    const struct px_describer_user *user = describer->first;
    const struct job_door msg = {.kind = JOB_DOOR_DESCRIBE, .base = user->base};

    describer->table = ep_table_open(user->base, user->size);
    px_door_say(px_jobs_door(describer->jobs), &msg);
}

void px_describer_ask(struct px_describer *describer,
                      struct px_describer_user *user,
                      const struct px_jobs_entry *job)
{
    struct px_describer_user **at = &describer->first;

    user->base = job->base;
    user->size = job->size;
    user->next = NULL;
    while (*at != NULL)
        at = &(*at)->next;
    *at = user;
    if (describer->first == user)
        say_question(describer);
}

/* Adds a message to the table. If that fails, the table is freed, because an
 * incomplete table is useless. */
static void add_rows(struct px_describer *describer, const struct job_door *msg)
{
    if (describer->table != NULL && ep_table_add(describer->table, msg) != 0) {
        ep_table_close(describer->table);
        describer->table = NULL;
    }
}

static void end_question(struct px_describer *describer, bool is_gone)
{
    struct px_describer_user *user = describer->first;
    struct ep_table *table = describer->table;
    enum px_lib_answer answer = PX_LIB_YES;

    if (is_gone) {
        answer = PX_LIB_NOT_FOUND;
        ep_table_close(table);
        table = NULL;
    } else if (table == NULL) {
        answer = PX_LIB_NO_RESOURCE;
    }
    describer->table = NULL;
    describer->first = user->next;
    if (describer->first != NULL)
        say_question(describer);
    user->on_done(user->arg, answer, table);
}

void px_describer_on_word(struct px_describer *describer,
                          const struct job_door *msg)
{
    if (describer->first == NULL)
        return;
    if (msg->kind == JOB_DOOR_PLACE || msg->kind == JOB_DOOR_PIDS ||
        msg->kind == JOB_DOOR_EXITS || msg->kind == JOB_DOOR_DESCRIBED)
        add_rows(describer, msg);
    if (msg->kind == JOB_DOOR_DESCRIBED)
        end_question(describer, msg->is_over);
}
