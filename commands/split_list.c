/* Compares the program with the hosts before it. */
#include "commands/split_list.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/refuse.h"
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

/* Tells whether two words differ in their numbers only, and have some. */
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

void split_list_check(const char *hosts, const char *program)
{
    if (hosts == NULL || strchr(program, '/') != NULL ||
        !are_siblings(hosts, program) || is_here(program) ||
        ep_launcher_has_program(getenv("PATH"), program))
        return;
    usage("'%s' is no program but a host like '%s': a shell has split the "
          "list, so put it in quotes, as -w 'node[1-4]'",
          program, hosts);
}
