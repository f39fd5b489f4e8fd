/* Ends the program when an assertion fails. */
#include "overlay/base/panic.h"

#include <stddef.h>

static ov_panic_fn handler;

void ov_panic_set(ov_panic_fn fn)
{
    handler = fn;
}

_Noreturn void ov_panic(const char *file, int line, const char *what)
{
    if (handler != NULL)
        handler(file, line, what);
    __builtin_trap();
}
