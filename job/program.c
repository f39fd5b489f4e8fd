/* Builds and frees the parts of a program of a job. */
#include "job/program.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

void job_strings_fini(struct job_strings *strings)
{
    for (uint32_t i = 0; i < strings->count; i++)
        free(strings->at[i]);
    free(strings->at);
    *strings = (struct job_strings){0};
}

void job_app_fini(struct job_app *app)
{
    free(app->ranks);
    free(app->cwd);
    job_strings_fini(&app->argv);
    job_strings_fini(&app->env);
    *app = (struct job_app){0};
}

void *job_grown(void *items, uint32_t *cap, uint32_t count, size_t each)
{
    uint32_t more = *cap == 0 ? 8 : *cap * 2;

    if (count < *cap)
        return items;
    items = reallocarray(items, more, each);
    if (items != NULL)
        *cap = more;
    return items;
}

int job_strings_add(struct job_strings *strings, const char *string)
{
    char **items = job_grown(strings->at, &strings->cap, strings->count + 1,
                             sizeof(*items));
    char *copy;

    if (items == NULL)
        return OV_ENOMEM;
    strings->at = items;
    items[strings->count] = NULL;
    copy = strdup(string);
    if (copy == NULL)
        return OV_ENOMEM;
    items[strings->count++] = copy;
    items[strings->count] = NULL;
    return 0;
}

int job_app_add_ranks(struct job_app *app, struct job_ranks ranks)
{
    struct job_ranks *items = job_grown(app->ranks, &app->ranks_cap,
                                        app->ranks_count, sizeof(*items));

    if (items == NULL)
        return OV_ENOMEM;
    app->ranks = items;
    items[app->ranks_count++] = ranks;
    return 0;
}

int job_set_string(char **at, const char *string)
{
    char *copy = string != NULL ? strdup(string) : NULL;

    if (copy == NULL && string != NULL)
        return OV_ENOMEM;
    free(*at);
    *at = copy;
    return 0;
}

int job_app_set(struct job_app *app, const struct job_program *program)
{
    int rc = job_set_string(&app->cwd, program->cwd);

    app->cwd_is_optional = program->cwd_is_optional;
    for (uint32_t i = 0; rc == 0 && program->argv[i] != NULL; i++)
        rc = job_strings_add(&app->argv, program->argv[i]);
    return rc;
}

struct job_program job_app_program(const struct job_app *app)
{
    return (struct job_program){
        .argv = (const char *const *)app->argv.at,
        .cwd = app->cwd,
        .cwd_is_optional = app->cwd_is_optional,
    };
}
