/* Keeps the message about the first rule that was broken. */
#include "sim/state.h"

#include <stdarg.h>
#include <stdio.h>

void sim_world_fail(struct sim_world *w, const char *format, ...)
{
    va_list args;

    if (w->end.why[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(w->end.why, sizeof(w->end.why), format, args);
    va_end(args);
}
