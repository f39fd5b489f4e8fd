/* The transport as a module: libfabric is the shared one, with all
 * providers. */
#include "endpoints/ofi/only_tcp.h"

const bool ep_ofi_only_tcp = false;
