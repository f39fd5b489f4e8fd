/* Offers the transport that is linked into the program, if there is one. */
#include "commands/fabric.h"

#include "config.h"
#include "endpoints/fabric/transport.h"

void fabric_offer(void)
{
#ifdef FABRIC_ARCHIVE
    ep_transport_offer_tcp(&ep_transport_ofi_ops);
#endif
}
