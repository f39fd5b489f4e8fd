/* Chains return the bytes that were added, and the memory is as large as it
 * reports. */
#include "config.h"

#include "endpoints/daemon/chunks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/chance.h"

enum { CHAINS = 8, ROUNDS = 20000, MAX = 64 };

/* Returns the byte at a position of a chain; no two chains look alike. */
static uint8_t byte_at(unsigned chain, uint64_t pos)
{
    return (uint8_t)(pos * 7 + chain * 31 + (pos >> 8));
}

static void check(const uint8_t *mem, unsigned chain, uint64_t pos,
                  uint32_t len_bytes)
{
    for (uint32_t i = 0; i < len_bytes; i++)
        assert_int_equal(mem[i], byte_at(chain, pos + i));
}

/* Adds, copies, takes and drops at random: a chain always has the bytes between
 * those taken and those added, and refuses bytes only when the memory is used
 * up. At the end all memory is free. */
static void chains_hold_what_was_added(void **state)
{
    static uint8_t mem[MAX * EP_CHUNK_BYTES];
    struct chance chance = chance_start(11);
    struct ep_chain chains[CHAINS] = {{0}};
    uint64_t start[CHAINS] = {0};
    unsigned refused = 0;
    struct ep_chunks chunks;

    (void)state;
    assert_int_equal(ep_chunks_open(&chunks, MAX), 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned c = chance_in(&chance, 0, CHAINS - 1);
        uint32_t len = chance_in(&chance, 0, 3000);
        struct ep_chain *chain = &chains[c];

        if (chance_in(&chance, 0, 1) == 0) {
            uint32_t had = chain->len_bytes;

            for (uint32_t k = 0; k < len; k++)
                mem[k] = byte_at(c, start[c] + had + k);
            if (ep_chain_add(&chunks, chain, mem, len)) {
                assert_int_equal(chain->len_bytes, had + len);
                continue;
            }
            refused++;
            assert_int_equal(chain->len_bytes, had);
            assert_true(ep_chunks_free(&chunks) <
                        (len + EP_CHUNK_BYTES - 1) / EP_CHUNK_BYTES);
        }
        ep_chain_copy(&chunks, chain, mem);
        check(mem, c, start[c], chain->len_bytes);
        if (chance_in(&chance, 0, 9) == 0) {
            start[c] += chain->len_bytes;
            ep_chain_drop(&chunks, chain);
            assert_int_equal(chain->len_bytes, 0);
            continue;
        }
        if (len > chain->len_bytes)
            len = chain->len_bytes;
        ep_chain_take(&chunks, chain, mem, len);
        check(mem, c, start[c], len);
        start[c] += len;
    }
    assert_true(refused > 0);
    for (unsigned c = 0; c < CHAINS; c++)
        ep_chain_drop(&chunks, &chains[c]);
    assert_int_equal(chunks.used, 0);
    ep_chunks_close(&chunks);
}

/* Short lines, one after the other, touch one chunk and not the whole
 * memory. */
static void little_use_touches_little(void **state)
{
    static const uint8_t word[] = "unfinished";
    struct ep_chain chain = {0};
    struct ep_chunks chunks;
    uint8_t mem[sizeof(word)];

    (void)state;
    assert_int_equal(ep_chunks_open(&chunks, MAX), 0);
    for (unsigned i = 0; i < 1000; i++) {
        assert_true(ep_chain_add(&chunks, &chain, word, sizeof(word)));
        ep_chain_take(&chunks, &chain, mem, sizeof(word));
        assert_memory_equal(mem, word, sizeof(word));
    }
    assert_int_equal(chunks.made, 1);
    ep_chunks_close(&chunks);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_hold_what_was_added),
        cmocka_unit_test(little_use_touches_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
