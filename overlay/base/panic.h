/* Assertions that stay on in release: our own bugs, never bad input. */
#ifndef OVERLAY_BASE_PANIC_H
#define OVERLAY_BASE_PANIC_H

/* The function that runs when an assertion fails; it must not return. The core
 * calls nothing outside itself, so the program sets this before the first step.
 * NULL, the initial value, traps the processor. */
typedef void (*ov_panic_fn)(const char *file, int line, const char *what);
void ov_panic_set(ov_panic_fn fn);

_Noreturn void ov_panic(const char *file, int line, const char *what);

#define OV_ASSERT(cond)                                                        \
    do {                                                                       \
        if (__builtin_expect(!(cond), 0))                                      \
            ov_panic(__FILE__, __LINE__, #cond);                               \
    } while (0)

/* Marks what cannot happen; the text says why it cannot. */
#define OV_IMPOSSIBLE(text) ov_panic(__FILE__, __LINE__, text)

#endif
