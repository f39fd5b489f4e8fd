/* For LD_PRELOAD into the helper: it is held where libpmix listens already and
 * it is not ready yet, until somebody opens the FIFO to write. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

typedef int (*function)(const void *, size_t, const void *, size_t, uint16_t,
                        void *, void *, void *);

int PMIx_IOF_pull(const void *procs, size_t count, const void *infos,
                  size_t ninfo, uint16_t channels, void *on_output,
                  void *on_registered, void *arg)
{
    function real = (function)dlsym(RTLD_NEXT, "PMIx_IOF_pull");

    close(open(getenv("XYLEM_TEST_HOLD"), O_RDONLY));
    return real(procs, count, infos, ninfo, channels, on_output, on_registered,
                arg);
}
