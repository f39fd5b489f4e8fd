/* Registers the transport (the module over libfabric) when it is linked into
 * the program. */
#ifndef COMMANDS_FABRIC_H
#define COMMANDS_FABRIC_H

/* Offers the linked transport to the sessions of this process. To be called at
 * the program's start. */
void fabric_offer(void);

#endif
