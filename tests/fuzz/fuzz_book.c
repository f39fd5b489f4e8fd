/* The address of a node in an ADDRESS item: an item that decodes encodes to the
 * same bytes, and one that does not decode changes nothing. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "endpoints/hub/book.h"
#include "overlay/base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    static const struct ep_boot_peer before = {.node = 7, .address = "a:1"};
    struct ep_boot_peer peer = before;
    uint8_t again[EP_AUTH_NONCE_BYTES + EP_ADDR_MAX];
    int rc = ep_book_decode(mem, (uint32_t)len_bytes, &peer);

    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO);
    FUZZ_CHECK(peer.node == before.node);
    if (rc != 0) {
        FUZZ_CHECK(strcmp(peer.address, before.address) == 0);
        return 0;
    }
    FUZZ_CHECK(peer.address[0] != '\0');
    FUZZ_CHECK(ep_book_encode(&peer, again) == len_bytes);
    FUZZ_CHECK(memcmp(again, mem, len_bytes) == 0);
    return 0;
}
