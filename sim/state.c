/* The first rule that breaks. */
#include "sim/state.h"

#include <stdarg.h>
#include <stdio.h>

void sim_world_fail(struct sim_world *w, const char *format, ...)
{
    va_list args;

    if (w->why[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(w->why, sizeof(w->why), format, args);
    va_end(args);
}
