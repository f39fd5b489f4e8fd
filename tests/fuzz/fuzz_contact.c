/* The text of a rendezvous file: with its own port it stays the same; with
 * another port and another process it can be read again, and has that port and
 * process. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "overlay/base/err.h"
#include "pmix_api/contact.h"

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    const char *text = (const char *)mem;
    char out[PX_CONTACT_BYTES_MAX];
    struct px_contact_move to = {.port = 65535};
    struct px_contact contact, again;
    size_t out_bytes;
    int rc;

    if (px_contact_parse(text, len_bytes, &contact) != 0)
        return 0;
    FUZZ_CHECK(contact.port > 0);
    FUZZ_CHECK(contact.port_at + contact.port_bytes <= len_bytes);
    to.pid = len_bytes % 2 != 0 ? 4194304 : 0;
    rc = px_contact_move(text, len_bytes, &to, out, &out_bytes);
    FUZZ_CHECK(rc == 0 || (rc == OV_EFULL && len_bytes > sizeof(out) - 12));
    if (rc != 0)
        return 0;
    FUZZ_CHECK(px_contact_parse(out, out_bytes, &again) == 0);
    FUZZ_CHECK(again.port == 65535 && again.port_at == contact.port_at);
    FUZZ_CHECK(strcmp(again.address, contact.address) == 0);
    FUZZ_CHECK(to.pid != 0 ||
               out_bytes - again.port_bytes == len_bytes - contact.port_bytes);
    return 0;
}
