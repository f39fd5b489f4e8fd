/* Options about the environment of processes: the names of variables are
 * checked, and lists of them are split. */
#include "commands/env_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "commands/refuse.h"
#include "endpoints/run/run.h"

static bool is_digit(char ch)
{
    return ch >= '0' && ch <= '9';
}

/* Names of exported functions of bash have some of these signs, too. */
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

/* Adds what stands between commas. The copy of the list is never freed, as the
 * options point into it. */
static void add_exports(struct ep_run_options *o, const char *list)
{
    char *word = strdup(list), *end;

    if (word == NULL)
        usage("out of memory");
    for (; word != NULL; word = end) {
        end = strchr(word, ',');
        if (end != NULL)
            *end++ = '\0';
        if (strcasecmp(word, "NONE") == 0)
            usage("--export=NONE stands alone: leave it out of '%s'", list);
        if (strcasecmp(word, "ALL") == 0)
            o->exports_only = false;
        else
            add_export(o, word);
    }
}

void env_options_export(const char *text, void *into)
{
    struct ep_run_options *o = into;

    o->exports_only = true;
    o->exports_count = 0;
    if (strcasecmp(text, "NONE") != 0)
        add_exports(o, text);
}
