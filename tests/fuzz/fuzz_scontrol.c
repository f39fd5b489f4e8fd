/* Slurm's description of a job: the nodes that are found stand in the text as
 * one word, after the name of the field. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "endpoints/run/scontrol.h"
#include "overlay/base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    static const char mark[] = " NodeList=";
    char *text = malloc(len_bytes + 1);
    struct text_buf nodes = {0};
    int rc;

    FUZZ_CHECK(text != NULL);
    if (len_bytes > 0)
        memcpy(text, mem, len_bytes);
    text[len_bytes] = '\0';
    rc = ep_scontrol_nodes_parse(text, &nodes);
    FUZZ_CHECK(rc == (strstr(text, mark) != NULL ? 0 : OV_ENOENT));
    if (rc == 0) {
        FUZZ_CHECK(nodes.at != NULL && strpbrk(nodes.at, " \n") == NULL);
        FUZZ_CHECK(strncmp(strstr(text, mark) + strlen(mark), nodes.at,
                           nodes.len_bytes) == 0);
    }
    text_buf_fini(&nodes);
    free(text);
    return 0;
}
