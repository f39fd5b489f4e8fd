/* The environment of a program: that of the run, with the changes that a
 * request asks for. */
#include "endpoints/run/environ.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/boot/task_env.h"
#include "overlay/base/err.h"

extern char **environ;

struct settings {
    char **at; /* owned, and so are its strings; NULL where one was unset */
    size_t count;
};

static bool has_name(const char *setting, const char *name, size_t len)
{
    return setting != NULL && strncmp(setting, name, len) == 0 &&
           setting[len] == '=';
}

/* Finds the last setting with that name, which is the one that counts. Returns
 * NULL when there is none. */
static char **find_setting(const struct settings *all, const char *name,
                           size_t len)
{
    for (size_t i = all->count; i > 0; i--) {
        if (has_name(all->at[i - 1], name, len))
            return &all->at[i - 1];
    }
    return NULL;
}

static void drop_settings(struct settings *all, const char *name, size_t len)
{
    char **at;

    while ((at = find_setting(all, name, len)) != NULL) {
        free(*at);
        *at = NULL;
    }
}

/* Makes a setting: the name, and two values with the separator between them. */
static char *join(const char *name, size_t len, const char *first,
                  char separator, const char *second)
{
    size_t size = len + 1 + strlen(first) + 1 + strlen(second) + 1;
    char *text = malloc(size);

    if (text != NULL)
        snprintf(text, size, "%.*s=%s%c%s", (int)len, name, first, separator,
                 second);
    return text;
}

/* Returns the text that a setting has after the change; `old` is its text
 * before. */
static char *changed(const struct job_env *change, size_t len, const char *old)
{
    const char *value = change->text + len + 1, *was = old + len + 1;

    if (change->what == JOB_ENV_PREPEND)
        return join(change->text, len, value, change->separator, was);
    if (change->what == JOB_ENV_APPEND)
        return join(change->text, len, was, change->separator, value);
    return strdup(change->what == JOB_ENV_ADD ? old : change->text);
}

static void drop_all(struct settings *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->at[i]);
        all->at[i] = NULL;
    }
}

/* Applies a change. There must be room for one more setting. */
static int apply_change(struct settings *all, const struct job_env *change)
{
    size_t len = strcspn(change->text, "=");
    char **old = find_setting(all, change->text, len);
    char *made;

    if (change->what == JOB_ENV_CLEAR) {
        drop_all(all);
        return 0;
    }
    if (change->what == JOB_ENV_UNSET) {
        drop_settings(all, change->text, len);
        return 0;
    }
    made = old == NULL ? strdup(change->text) : changed(change, len, *old);
    if (made == NULL)
        return OV_ENOMEM;
    drop_settings(all, change->text, len);
    all->at[all->count++] = made;
    return 0;
}

int ep_run_environ(const struct job_strings *own, const struct job_wish *from,
                   struct job_app *app)
{
    struct settings all = {.count = 0};
    int rc = 0;

    all.at = calloc((size_t)own->count + from->env_count + 1, sizeof(*all.at));
    if (all.at == NULL)
        return OV_ENOMEM;
    for (; rc == 0 && all.count < own->count; all.count += rc == 0) {
        all.at[all.count] = strdup(own->at[all.count]);
        rc = all.at[all.count] == NULL ? OV_ENOMEM : 0;
    }
    for (uint32_t i = 0; rc == 0 && i < from->env_count; i++)
        rc = apply_change(&all, &from->env[i]);
    for (size_t i = 0; rc == 0 && i < all.count; i++)
        rc = all.at[i] != NULL ? job_strings_add(&app->env, all.at[i]) : 0;
    for (size_t i = 0; i < all.count; i++)
        free(all.at[i]);
    free(all.at);
    return rc;
}

const char *ep_run_env_find(const char *name)
{
    for (char **at = environ; *at != NULL; at++) {
        if (has_name(*at, name, strlen(name)))
            return *at;
    }
    return NULL;
}

bool ep_run_env_is_private(const char *entry)
{
    static const char *const names[] = {"_", "OLDPWD", "PWD", "SHLVL"};
    /* With the settings of PMI and PMIx of the launcher itself, a process would
     * connect to the launcher's own server, which does not know the process. */
    static const char *const prefixes[] = {"XYLEM_", "BASH_FUNC_", "PMIX_",
                                           "PMI_", "PMI2_"};

    if (ep_task_env_has(entry))
        return true;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (has_name(entry, names[i], strlen(names[i])))
            return true;
    }
    return false;
}
