/* Lines of srun's stderr, with any content: each node that is given up has a
 * name and a reason, and no memory is left. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "endpoints/boot/srun.h"

enum { TASKS = 1000 };

static void on_end(void *arg, const char *host, enum ep_srun_end end,
                   const char *text)
{
    (void)arg;
    FUZZ_CHECK(host[0] != '\0' && text[0] != '\0');
    FUZZ_CHECK(end <= EP_SRUN_REFUSED);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    struct ep_srun srun = {.count = TASKS};
    char *text = malloc(len_bytes + 1), *next, *line;

    if (text == NULL)
        return 0;
    if (len_bytes > 0)
        memcpy(text, mem, len_bytes);
    text[len_bytes] = '\0';
    next = text;
    while ((line = strsep(&next, "\n")) != NULL)
        ep_srun_line(&srun, line, "/x/xylemd", on_end, NULL);
    FUZZ_CHECK(srun.cap <= 2 * TASKS);
    ep_srun_fini(&srun);
    free(text);
    return 0;
}
