/* Checks whether the program is a word that belongs to the options before
 * it. */
#include "commands/program_word.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/refuse.h"
#include "commands/stream_options.h"
#include "endpoints/boot/launcher.h"

/* Tells whether the working directory has such a program. */
static bool is_here(const char *program)
{
    struct stat file;

    return stat(program, &file) == 0 && S_ISREG(file.st_mode) &&
           access(program, X_OK) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Tells whether two words contain numbers and differ only in these. */
static bool are_siblings(const char *a, const char *b)
{
    bool has_number = false;

    for (;;) {
        has_number |= is_digit(*a) && is_digit(*b);
        while (is_digit(*a))
            a++;
        while (is_digit(*b))
            b++;
        if (*a != *b || *a == '\0')
            return *a == *b && has_number;
        a++;
        b++;
    }
}

void program_word_check(const char *hosts, const char *before, const char *word)
{
    const bool is_label = strcmp(before, "--label") == 0 &&
                          stream_options_find_label(word) != TEXT_LABEL_NONE;
    const bool is_host = hosts != NULL && are_siblings(hosts, word);

    if ((!is_label && !is_host) || strchr(word, '/') != NULL || is_here(word) ||
        ep_launcher_has_program(getenv("PATH"), word))
        return;
    if (is_label)
        usage("'%s' is no program: a value of --label follows a '=', as "
              "--label=%s",
              word, word);
    usage("'%s' is no program but a host like '%s': a shell has split the "
          "list, so put it in quotes, as -w 'node[1-4]'",
          word, hosts);
}
