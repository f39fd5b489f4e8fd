/* Assertions that are also compiled into releases. They fail because of a bug
 * in xylem, never because of bad input. */
#ifndef OVERLAY_BASE_PANIC_H
#define OVERLAY_BASE_PANIC_H

/* The function that runs when an assertion fails; it must not return. The core
 * calls nothing outside itself, so the program sets this before the first step.
 * While it is NULL, as at first, a failed assertion executes a trap
 * instruction. */
typedef void (*ov_panic_fn)(const char *file, int line, const char *what);
void ov_panic_set(ov_panic_fn fn);

_Noreturn void ov_panic(const char *file, int line, const char *what);

#define OV_ASSERT(cond)                                                        \
    do {                                                                       \
        if (__builtin_expect(!(cond), 0))                                      \
            ov_panic(__FILE__, __LINE__, #cond);                               \
    } while (0)

/* Marks code that is never reached; the text says why not. */
#define OV_IMPOSSIBLE(text) ov_panic(__FILE__, __LINE__, text)

#endif
