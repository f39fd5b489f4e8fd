/* Takes only the provider tcp from libfabric's static library.
 *
 * The shared libfabric contains whatever its packager has built in: libraries
 * whose constructors sleep for a fifth of a second, and a verbs provider that
 * reads all symbols of the kernel before it is used. The static library has one
 * start function for each provider, all called from one list. When these
 * functions are defined here, the linker leaves out those of the library, with
 * everything that they need. The names are those of libfabric up to 2.1. If one
 * is missing here, linking fails because libraries are missing, and configure
 * does without the static library.
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
LEFT_OUT(xnet) /* the provider net; later versions give tcp this name */
#endif

/* The members of libfabric's description of a pool of equal pieces, from 1.9 to
 * 2.1. */
struct pool_attr {
    size_t size_bytes, alignment;
    size_t max_count;   /* most pieces; 0: no limit */
    size_t chunk_count; /* number of pieces by which it grows */
};

enum { TCP_CHUNK = 1024, CHUNK = 32, PIECE_MAX = 1024 };

int __real_ofi_bufpool_create_attr(struct pool_attr *attr,
                                   struct ofi_bufpool **out);
int __wrap_ofi_bufpool_create_attr(struct pool_attr *attr,
                                   struct ofi_bufpool **out);

/* Makes the pools of tcp grow in smaller steps. tcp allocates and clears 1,024
 * transfers when a link posts the first one: half a megabyte and a hundred page
 * faults in a daemon that needs a handful, a quarter of the cost of its start.
 * The linker calls this function instead of the original; a pool that looks
 * different is not changed. */
int __wrap_ofi_bufpool_create_attr(struct pool_attr *attr,
                                   struct ofi_bufpool **out)
{
    if (attr->chunk_count == TCP_CHUNK && attr->max_count == 0 &&
        attr->alignment == 16 && attr->size_bytes <= PIECE_MAX)
        attr->chunk_count = CHUNK;
    return __real_ofi_bufpool_create_attr(attr, out);
}
