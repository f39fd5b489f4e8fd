/* Compares bytes on the wire with hex text, in which spaces have no meaning. */
#ifndef TESTS_UNIT_BYTES_H
#define TESTS_UNIT_BYTES_H

#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/wire.h"

/* Fails unless the bytes written so far into mem are exactly `hex`. */
static inline void assert_bytes(const struct ov_wr *wr, const uint8_t *mem,
                                const char *hex)
{
    char got[4096] = "";
    char want[4096] = "";
    size_t at = 0, len = (size_t)(wr->at - mem);

    assert_false(wr->bad);
    for (size_t i = 0; i < len; i++)
        snprintf(got + 2 * i, sizeof(got) - 2 * i, "%02x", mem[i]);
    for (; *hex != '\0'; hex++) {
        if (*hex != ' ')
            want[at++] = *hex;
    }
    assert_string_equal(got, want);
}

#endif
