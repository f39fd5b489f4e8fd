/* A line from a daemon, or a line that a remote shell printed: an accepted line
 * can be written and read again, and a line that is not from a daemon is not
 * changed. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "endpoints/boot/boot.h"
#include "overlay/base/err.h"

/* The encoder puts a newline before and after the line. */
static void check_again(const struct ep_boot_up *up)
{
    struct text_buf text = {0};
    struct ep_boot_up again;
    size_t first = 0;

    if (up->kind == EP_BOOT_READY &&
        strcmp(up->version, ep_boot_version()) != 0)
        return;
    ep_boot_up_encode(up, &text);
    FUZZ_CHECK(!text.bad);
    while (first < text.len_bytes && text.at[first] == '\n')
        first++;
    FUZZ_CHECK(text.at[text.len_bytes - 1] == '\n');
    FUZZ_CHECK(ep_boot_up_decode(text.at + first, text.len_bytes - first - 1,
                                 &again) == 0);
    FUZZ_CHECK(again.kind == up->kind);
    FUZZ_CHECK(again.peer.node == up->peer.node);
    FUZZ_CHECK(strcmp(again.peer.address, up->peer.address) == 0);
    FUZZ_CHECK(again.time_ms == up->time_ms);
    FUZZ_CHECK(strcmp(again.text, up->text) == 0);
    text_buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    static struct ep_boot_up up;
    char *line = malloc(len_bytes + 1);
    int rc;

    FUZZ_CHECK(line != NULL);
    memcpy(line, mem, len_bytes);
    line[len_bytes] = 'x';
    memset(&up, 0, sizeof(up));
    rc = ep_boot_up_decode(line, len_bytes, &up);
    if (rc == 0)
        check_again(&up);
    else if (rc == OV_ENOENT)
        FUZZ_CHECK(memcmp(line, mem, len_bytes) == 0 && line[len_bytes] == 'x');
    else
        FUZZ_CHECK(rc == OV_EPROTO);
    free(line);
    return 0;
}
