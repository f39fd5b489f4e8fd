/* Takes only the provider tcp from libfabric's archive.
 *
 * The shared libfabric brings whatever its packager has built in: libraries
 * whose constructors sleep for a fifth of a second, and a verbs provider that
 * reads all symbols of the kernel before it is asked for anything. The archive
 * has one start function for each provider, all called from one list. When
 * these are defined here, the linker leaves out those of the archive, with all
 * that they need.
 *
 * The names are those of libfabric up to 2.1. If one is missing, the link fails
 * because of missing libraries, and configure does without the archive.
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
LEFT_OUT(xnet) /* the provider net; later tcp is called by this name */
#endif

/* How libfabric describes a pool of pieces of the same size, from 1.9 to
 * 2.1. */
struct pool_attr {
    size_t size_bytes, alignment;
    size_t max_count;   /* 0: no limit */
    size_t chunk_count; /* number of pieces by which it grows */
};

enum { TCP_CHUNK = 1024, CHUNK = 32, PIECE_MAX = 1024 };

int __real_ofi_bufpool_create_attr(struct pool_attr *attr,
                                   struct ofi_bufpool **out);
int __wrap_ofi_bufpool_create_attr(struct pool_attr *attr,
                                   struct ofi_bufpool **out);

/* tcp takes and clears room for 1,024 transfers when a link posts the first
 * one: half a megabyte and a hundred page faults in a daemon that needs a
 * handful, a quarter of all that its start takes. So it gets them in smaller
 * lots. The linker puts this in place of the original; a pool that looks
 * different is left alone. */
int __wrap_ofi_bufpool_create_attr(struct pool_attr *attr,
                                   struct ofi_bufpool **out)
{
    if (attr->chunk_count == TCP_CHUNK && attr->max_count == 0 &&
        attr->alignment == 16 && attr->size_bytes <= PIECE_MAX)
        attr->chunk_count = CHUNK;
    return __real_ofi_bufpool_create_attr(attr, out);
}
