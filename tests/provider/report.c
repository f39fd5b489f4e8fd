/* The messages of strict: a line on stderr, and in the file STRICT_REPORT. */
#include "tests/provider/strict.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 512 };

static size_t compose(char *line, const char *rule, const char *format,
                      va_list args)
{
    int at = snprintf(line, LINE_MAX_BYTES, "strict: %s: ", rule);
    int more =
        vsnprintf(line + at, LINE_MAX_BYTES - (size_t)at - 1, format, args);
    size_t len_bytes = (size_t)at;

    if (more > 0)
        len_bytes = strlen(line);
    line[len_bytes] = '\n';
    return len_bytes + 1;
}

static void put(int fd, const char *line, size_t len_bytes)
{
    if (write(fd, line, len_bytes) < 0)
        return; /* The report cannot be written anywhere. */
}

static bool put_report(const char *line, size_t len_bytes)
{
    const char *path = getenv("STRICT_REPORT");
    int fd;

    if (path == NULL || *path == '\0')
        return false;
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    put(fd, line, len_bytes);
    close(fd);
    return true;
}

_Noreturn void strict_abort(const char *rule, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    size_t len_bytes;
    va_list args;

    va_start(args, format);
    len_bytes = compose(line, rule, format, args);
    va_end(args);
    put(STDERR_FILENO, line, len_bytes);
    put_report(line, len_bytes);
    abort();
}

void strict_note(const char *rule, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    size_t len_bytes;
    va_list args;

    va_start(args, format);
    len_bytes = compose(line, rule, format, args);
    va_end(args);
    if (!put_report(line, len_bytes))
        put(STDERR_FILENO, line, len_bytes);
}

void strict_need_closed(const char *what, unsigned children)
{
    if (children > 0)
        strict_abort("CLOSE", "%s closed while %u object%s of it %s open", what,
                     children, children == 1 ? "" : "s",
                     children == 1 ? "is" : "are");
}
