/* The start-up text for a daemon, in pieces of any size: the result must not
 * depend on where the text was cut, and an accepted configuration can be
 * written and read again. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "endpoints/boot/boot.h"
#include "overlay/base/err.h"

struct told {
    struct ep_boot_config config;
    unsigned gos;
    unsigned peers;
};

static void on_go(void *arg, struct ep_boot_config *config)
{
    struct told *told = arg;

    told->gos++;
    FUZZ_CHECK(told->gos == 1);
    told->config = *config;
    memset(config, 0, sizeof(*config));
}

static void on_peer(void *arg, const struct ep_boot_peer *peer)
{
    struct told *told = arg;

    told->peers++;
    FUZZ_CHECK(memchr(peer->address, '\0', sizeof(peer->address)) != NULL);
}

static const struct ep_boot_down_events events = {on_go, on_peer};

/* Feeds the text; the first byte gives the size of the pieces. */
static int feed(struct told *told, const char *mem, size_t len_bytes,
                size_t piece_bytes)
{
    struct ep_boot_reader rd;
    int rc = 0;

    memset(told, 0, sizeof(*told));
    ep_boot_reader_init(&rd, &events, told, "/bin/xylemd");
    for (size_t at = 0; rc == 0 && at < len_bytes; at += piece_bytes) {
        size_t left = len_bytes - at;

        rc = ep_boot_reader_feed(&rd, mem + at,
                                 left < piece_bytes ? left : piece_bytes);
    }
    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    if (rc == 0)
        rc = ep_boot_reader_end(&rd);
    FUZZ_CHECK(rc == 0 || rd.why[0] != '\0');
    ep_boot_reader_fini(&rd);
    return rc;
}

static void check_again(const struct told *told)
{
    struct text_buf text = {0};
    struct told again;
    char why[EP_BOOT_WHY_MAX];

    FUZZ_CHECK(ep_boot_encode(&told->config, &text, why) == 0);
    FUZZ_CHECK(feed(&again, text.at, text.len_bytes, text.len_bytes) == 0);
    FUZZ_CHECK(again.gos == 1);
    FUZZ_CHECK(again.config.hosted_count == told->config.hosted_count);
    FUZZ_CHECK(again.config.hosts_count == told->config.hosts_count);
    FUZZ_CHECK(again.config.params_count == told->config.params_count);
    FUZZ_CHECK(again.config.tree.nodes == told->config.tree.nodes);
    ep_boot_config_fini(&again.config);
    text_buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    struct text_buf text = {0};
    struct told whole, parts;
    int rc;

    if (len_bytes < 1)
        return 0;
    /* The version is added here, because the fuzzer could not guess it. */
    text_buf_printf(&text, "xylem-boot %s\n", ep_boot_version());
    text_buf_add(&text, (const char *)mem + 1, len_bytes - 1);
    FUZZ_CHECK(!text.bad);
    rc = feed(&whole, text.at, text.len_bytes, text.len_bytes);
    FUZZ_CHECK(feed(&parts, text.at, text.len_bytes, 1u + mem[0]) == rc);
    FUZZ_CHECK(parts.gos == whole.gos && parts.peers == whole.peers);
    FUZZ_CHECK(rc != 0 || whole.gos == 1);
    if (whole.gos == 1)
        check_again(&whole);
    ep_boot_config_fini(&whole.config);
    ep_boot_config_fini(&parts.config);
    text_buf_fini(&text);
    return 0;
}
