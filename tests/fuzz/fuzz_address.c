/* Addresses as text: an accepted address that is written and read again is the
 * same, except for its scope. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "endpoints/ofi/address.h"
#include "overlay/base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    char *text = malloc(len_bytes + 1), again[EP_ADDR_MAX];
    union ep_sockaddr addr, same;
    int rc;

    FUZZ_CHECK(text != NULL);
    if (len_bytes > 0)
        memcpy(text, mem, len_bytes);
    text[len_bytes] = '\0';
    rc = ep_addr_parse(text, &addr);
    free(text);
    FUZZ_CHECK(rc == 0 || rc == OV_EINVAL);
    if (rc != 0)
        return 0;
    FUZZ_CHECK(addr.sa.sa_family == AF_INET || addr.sa.sa_family == AF_INET6);
    ep_addr_format(&addr, again);
    FUZZ_CHECK(memchr(again, '\0', sizeof(again)) != NULL);
    FUZZ_CHECK(ep_addr_parse(again, &same) == 0);
    FUZZ_CHECK(ep_addr_compare(&addr, &same) == 0);
    FUZZ_CHECK(ep_addr_port(&addr) == ep_addr_port(&same));
    FUZZ_CHECK(ep_addr_len(&addr) == ep_addr_len(&same));
    return 0;
}
