/* What every fuzz target includes.
 *
 * A target is one file fuzz_NOUN.c that defines the function below. It hands
 * the bytes to a decoder and checks what must hold for any bytes; the
 * sanitizers watch the rest. Seeds lie in corpus/NOUN/. `make check` runs each
 * target under driver.c; configure --enable-fuzzing (clang) links libFuzzer
 * instead, for `make fuzz`.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs the target once. Keeps no state between runs; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes);

#define FUZZ_CHECK(cond)                                                       \
    do {                                                                       \
        if (!(cond)) {                                                         \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,  \
                    #cond);                                                    \
            abort();                                                           \
        }                                                                      \
    } while (0)

#endif
