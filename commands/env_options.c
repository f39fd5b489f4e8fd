/* Options about the environment of processes: the names of variables are
 * checked, and lists of them are split. */
#include "commands/env_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "commands/refuse.h"
#include "endpoints/run/run.h"

static bool is_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

/* Names of functions that bash exports may contain some of these characters,
 * too. */
static bool is_of_name(char ch)
{
    return is_digit(ch) || (ch >= 'a' && ch <= 'z') ||
           (ch >= 'A' && ch <= 'Z') || (ch != '\0' && strchr("_.-%()", ch));
}

/* Tells whether the text is NAME or NAME=VALUE. */
static bool is_setting(const char *text)
{
    size_t len = 0;

    while (is_of_name(text[len]))
        len++;
    return len > 0 && !is_digit(text[0]) && text[0] != '-' &&
           (text[len] == '\0' || text[len] == '=');
}

static struct job_env change_of(const char *text)
{
    return (struct job_env){.what = strchr(text, '=') != NULL ? JOB_ENV_SET
                                                              : JOB_ENV_OWN,
                            .text = text};
}

void env_options_env(const char *text, void *into)
{
    struct ep_run_options *o = into;
    struct job_wish *app = &o->apps[o->apps_count];

    if (!is_setting(text))
        usage("--env takes NAME or NAME=VALUE, not '%s': a name has letters, "
              "digits and _, and does not begin with a digit",
              text);
    if (o->env_count == EP_RUN_ENV_MAX)
        usage("--env may be given %d times at most", EP_RUN_ENV_MAX);
    if (app->env_count++ == 0)
        app->env = &o->env[o->env_count];
    o->env[o->env_count++] = change_of(text);
}

static void add_export(struct ep_run_options *o, const char *text)
{
    if (!is_setting(text))
        usage("--export takes ALL, NONE, or NAME and NAME=VALUE with commas "
              "between them, not '%s': a name has letters, digits and _, and "
              "does not begin with a digit",
              text);
    if (o->exports_count == EP_RUN_ENV_MAX)
        usage("--export takes %d variables at most", EP_RUN_ENV_MAX);
    o->exports[o->exports_count++] = change_of(text);
}

/* Adds the words between commas. The copies of the words belong to the
 * options. */
static void add_exports(struct ep_run_options *o, const char *list)
{
    const char *end;

    for (const char *at = list; at != NULL; at = end) {
        char *word;

        end = strchr(at, ',');
        word = end != NULL ? strndup(at, (size_t)(end - at)) : strdup(at);
        end = end != NULL ? end + 1 : NULL;
        if (word == NULL)
            usage("out of memory");
        if (strcasecmp(word, "NONE") == 0)
            usage("--export=NONE stands alone: leave it out of '%s'", list);
        if (strcasecmp(word, "ALL") != 0) {
            add_export(o, word);
            continue;
        }
        o->exports_only = false;
        free(word);
    }
}

void env_options_export(const char *text, void *into)
{
    struct ep_run_options *o = into;

    o->exports_only = true;
    while (o->exports_count > 0)
        free((void *)(uintptr_t)o->exports[--o->exports_count].text);
    if (strcasecmp(text, "NONE") != 0)
        add_exports(o, text);
}
