/* Readers and writers of overlay/base/wire.h, compared with a simple model: the
 * input is a list of widths to read, and the memory to read from. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "overlay/base/wire.h"

enum { STEPS_MAX = 64 };

static uint64_t model(const uint8_t *mem, size_t at, unsigned width_bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < width_bytes; i++)
        value |= (uint64_t)mem[at + i] << 8 * i;
    return value;
}

static uint64_t read_one(struct ov_rd *rd, unsigned width_bytes)
{
    switch (width_bytes) {
    case 1:
        return ov_rd_u8(rd);
    case 2:
        return ov_rd_u16(rd);
    case 4:
        return ov_rd_u32(rd);
    default:
        return ov_rd_u64(rd);
    }
}

/* Checks that the reader returns the same values as the model until it fails,
 * and that it then keeps failing. */
static void read_all(const uint8_t *steps, size_t count, const uint8_t *mem,
                     size_t len_bytes)
{
    struct ov_rd rd = ov_rd_init(mem, len_bytes);
    size_t at = 0;
    bool bad = false;

    for (size_t i = 0; i < count; i++) {
        unsigned width_bytes = 1u << (steps[i] & 3);
        uint64_t value = read_one(&rd, width_bytes);

        bad = bad || len_bytes - at < width_bytes;
        FUZZ_CHECK(rd.bad == bad);
        if (bad) {
            FUZZ_CHECK(value == 0);
            FUZZ_CHECK(ov_rd_left(&rd) == 0);
            continue;
        }
        FUZZ_CHECK(value == model(mem, at, width_bytes));
        at += width_bytes;
        FUZZ_CHECK(ov_rd_left(&rd) == len_bytes - at);
    }
}

/* Checks that writing into too small a buffer stays inside it, and that what
 * was written can be read back. */
static void write_all(const uint8_t *steps, size_t count, const uint8_t *mem,
                      size_t len_bytes)
{
    size_t room_bytes = len_bytes / 2, at = 0;
    uint8_t *copy = malloc(room_bytes + 1);
    struct ov_wr wr = ov_wr_init(copy, room_bytes);

    FUZZ_CHECK(copy != NULL);
    for (size_t i = 0; i < count && at + 8 <= len_bytes; i++) {
        unsigned width_bytes = 1u << (steps[i] & 3);

        if ((steps[i] & 4) != 0)
            ov_wr_bytes(&wr, mem + at, width_bytes);
        else
            ov_wr_uint(&wr, model(mem, at, width_bytes), width_bytes);
        at += width_bytes;
        FUZZ_CHECK(wr.at <= wr.end);
        if (wr.bad)
            break;
        FUZZ_CHECK((size_t)(wr.at - copy) == at);
        FUZZ_CHECK(memcmp(copy, mem, at) == 0);
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    size_t count;

    if (len_bytes < 1)
        return 0;
    count = mem[0] % STEPS_MAX;
    if (len_bytes < 1 + count)
        return 0;
    read_all(mem + 1, count, mem + 1 + count, len_bytes - 1 - count);
    write_all(mem + 1, count, mem + 1 + count, len_bytes - 1 - count);
    return 0;
}
