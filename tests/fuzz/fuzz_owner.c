/* Owners in the names of files: an accepted owner that is printed and read
 * again is the same. */
#include "tests/fuzz/fuzz.h"

#include <limits.h>
#include <string.h>

#include "endpoints/sys/owner.h"

static const uint64_t hash_max = UINT64_C(0xffffffffffff);

static void check_again(const struct ep_owner *whose)
{
    char text[EP_OWNER_BYTES];
    struct ep_owner again;
    const char *end;

    ep_owner_print(whose, text);
    FUZZ_CHECK(memchr(text, '\0', sizeof(text)) != NULL);
    end = ep_owner_read(text, &again);
    FUZZ_CHECK(end != NULL && *end == '\0');
    FUZZ_CHECK(again.host == whose->host && again.boot == whose->boot);
    FUZZ_CHECK(again.space == whose->space && again.pid == whose->pid);
    FUZZ_CHECK(again.start == whose->start);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    char *text = malloc(len_bytes + 1);
    struct ep_owner owner;
    const char *end;

    FUZZ_CHECK(text != NULL);
    if (len_bytes > 0)
        memcpy(text, mem, len_bytes);
    text[len_bytes] = '\0';
    end = ep_owner_read(text, &owner);
    if (end != NULL) {
        FUZZ_CHECK(end > text && end <= text + strlen(text));
        FUZZ_CHECK(owner.pid > 0 && owner.pid <= INT_MAX);
        FUZZ_CHECK(owner.host <= hash_max && owner.boot <= hash_max &&
                   owner.space <= hash_max);
        check_again(&owner);
    }
    free(text);
    return 0;
}
