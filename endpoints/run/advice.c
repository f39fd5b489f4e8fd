/* Guesses what a user meant by a word that is not the name of a program. */
#include "endpoints/run/advice.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Commands that a shell carries out itself. */
static const char *const built_in[] = {"alias",  "cd",     "export", "module",
                                       "source", "ulimit", "umask",  "unset"};

static bool is_built_in(const char *word)
{
    for (size_t i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++) {
        if (strcmp(word, built_in[i]) == 0)
            return true;
    }
    return false;
}

/* Tells whether the word is NAME=VALUE. */
static bool is_setting(const char *word)
{
    return word[0] != '=' && word[strcspn(word, "=/")] == '=';
}

const char *ep_advice_word(const char *word)
{
    if (word[strcspn(word, " \t\n;|&<>")] != '\0')
        return " (leave out the quotes around it, or write sh -c 'COMMAND')";
    if (is_setting(word))
        return " (--env NAME=VALUE sets a variable)";
    if (word[0] == '-')
        return " (options come before `--' and the program)";
    if (word[0] == '~')
        return " (a shell replaces ~ only outside of quotes)";
    if (is_built_in(word))
        return " (a shell has this command: write sh -c 'COMMAND')";
    return "";
}

const char *ep_advice(const char *step, const char *program, int err)
{
    const char *advice = ep_advice_word(program);

    if (strcmp(step, "interpreter") == 0)
        return " (the #! line of a script, or the loader of a binary, names a "
               "file that is not there)";
    if (strcmp(step, "exec") != 0)
        return "";
    if (err == EACCES)
        return " (chmod +x makes a file executable)";
    if (err != ENOENT)
        return "";
    if (advice[0] != '\0' || strchr(program, '/') != NULL)
        return advice;
    return " (it is neither in PATH nor in the working directory)";
}
