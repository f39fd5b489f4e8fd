/* A file at the path of the launcher's own rendezvous file: it is replaced only
 * when a dead server has written it, and then as a whole. */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "pmix_api/rendezvous.h"
#include "tests/fuzz/file.h"

static const char own[] = "x.0;tcp4://127.0.0.1:1\nv\n1\n";

static off_t size_of(const char *path)
{
    struct stat st;

    FUZZ_CHECK(stat(path, &st) == 0 && S_ISREG(st.st_mode));
    return st.st_size;
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    char from[PATH_MAX], path[PATH_MAX];
    struct stat st;
    int rc;

    fuzz_folder_put("from", own, strlen(own));
    fuzz_folder_put("path", (const char *)mem, len_bytes);
    snprintf(from, sizeof(from), "%s/from", fuzz_folder());
    snprintf(path, sizeof(path), "%s/path", fuzz_folder());
    rc = px_rendezvous_put(from, path, &st);
    FUZZ_CHECK(rc == 0 || (rc == OV_ESYS && errno == EEXIST));
    if (rc != 0) {
        FUZZ_CHECK(size_of(path) == (off_t)len_bytes);
        unlink(path);
        return 0;
    }
    FUZZ_CHECK(size_of(path) == (off_t)strlen(own));
    px_rendezvous_remove(path, &st);
    FUZZ_CHECK(access(path, F_OK) != 0);
    return 0;
}
