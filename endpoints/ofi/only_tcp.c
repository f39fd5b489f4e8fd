/* Of libfabric's archive, the provider tcp and no other.
 *
 * The shared libfabric brings whatever its packager has built in: libraries
 * whose constructors sleep for a fifth of a second, and a verbs provider that
 * reads all symbols of the kernel before it is asked for anything. The archive
 * holds one start function for each provider, all called by one list. Where
 * they are defined here the linker leaves those of the archive out, with all
 * that is behind them.
 *
 * These are the names of libfabric up to 2.1; one that is missing makes the
 * link fail with its libraries, and configure goes without the archive.
 */
#include "endpoints/ofi/only_tcp.h"

#include <stddef.h>

#include <rdma/fabric.h>

const bool ep_ofi_only_tcp = true;

struct fi_provider;
struct ofi_bufpool;

#define LEFT_OUT(name)                                                         \
    struct fi_provider *fi_##name##_ini(void);                                 \
    struct fi_provider *fi_##name##_ini(void)                                  \
    {                                                                          \
        return (void *)0;                                                      \
    }

LEFT_OUT(bgq)
LEFT_OUT(cxi)
LEFT_OUT(debug_hook)
LEFT_OUT(dmabuf_peer_mem_hook)
LEFT_OUT(efa)
LEFT_OUT(gni)
LEFT_OUT(hook_hmem)
LEFT_OUT(hook_perf)
LEFT_OUT(lnx)
LEFT_OUT(lpp)
LEFT_OUT(monitor_hook)
LEFT_OUT(mrail)
LEFT_OUT(netdir)
LEFT_OUT(opx)
LEFT_OUT(psm)
LEFT_OUT(psm2)
LEFT_OUT(psm3)
LEFT_OUT(rstream)
LEFT_OUT(rxd)
LEFT_OUT(rxm)
LEFT_OUT(shm)
LEFT_OUT(sm2)
LEFT_OUT(sockets)
LEFT_OUT(trace_hook)
LEFT_OUT(ucx)
LEFT_OUT(udp)
LEFT_OUT(usnic)
LEFT_OUT(verbs)
#if FI_MAJOR_VERSION == 1 && FI_MINOR_VERSION < 18
LEFT_OUT(xnet) /* the provider net; later, tcp goes by this name */
#endif

/* How libfabric describes a pool of equal pieces, from 1.9 to 2.1. */
struct pool_attr {
    size_t size_bytes, alignment;
    size_t max_count;   /* 0: no limit */
    size_t chunk_count; /* pieces by which it grows */
};

enum { TCP_CHUNK = 1024, CHUNK = 32, PIECE_MAX = 1024 };

int __real_ofi_bufpool_create_attr(struct pool_attr *attr,
                                   struct ofi_bufpool **out);
int __wrap_ofi_bufpool_create_attr(struct pool_attr *attr,
                                   struct ofi_bufpool **out);

/* tcp takes and clears room for 1,024 transfers when a link posts the first,
 * half a megabyte and a hundred page faults in a daemon that has a handful:
 * a quarter of all that its start takes. So it gets them in smaller lots. The
 * linker puts this in the place of the original; a pool that looks otherwise
 * stays as it was meant.
 */
int __wrap_ofi_bufpool_create_attr(struct pool_attr *attr,
                                   struct ofi_bufpool **out)
{
    if (attr->chunk_count == TCP_CHUNK && attr->max_count == 0 &&
        attr->alignment == 16 && attr->size_bytes <= PIECE_MAX)
        attr->chunk_count = CHUNK;
    return __real_ofi_bufpool_create_attr(attr, out);
}
