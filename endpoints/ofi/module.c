/* The transport as a module: it uses the shared libfabric, which has all
 * providers. */
#include "endpoints/ofi/only_tcp.h"

const bool ep_ofi_only_tcp = false;
