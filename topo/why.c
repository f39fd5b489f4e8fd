/* Sentences for the user that say what is wrong and what to do. */
#include "topo/why.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* How much of a text is shown to locate a fault. */
enum { SHOWN_MAX = 32 };

void topo_why(char *why, const char *format, ...)
{
    va_list args;

    if (why == NULL)
        return;
    va_start(args, format);
    vsnprintf(why, TOPO_WHY_MAX, format, args);
    va_end(args);
    /* Control characters of a broken file must not reach a terminal. */
    for (char *c = why; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    }
}

void topo_why_at(char *why, const char *text, size_t at_bytes, const char *what)
{
    char shown[SHOWN_MAX + 1];
    size_t from = at_bytes > SHOWN_MAX ? at_bytes - SHOWN_MAX : 0;
    size_t len = at_bytes - from;

    if (at_bytes == 0) {
        topo_why(why, "%s (at the start)", what);
        return;
    }
    memcpy(shown, text + from, len);
    shown[len] = '\0';
    topo_why(why, "%s (character %zu, after \"%s%s\")", what, at_bytes + 1,
             from > 0 ? "..." : "", shown);
}
