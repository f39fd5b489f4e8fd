/* Makes the transport available that is linked in. */
#ifndef COMMANDS_FABRIC_H
#define COMMANDS_FABRIC_H

/* Offers it to the sessions of this process. To be called at the start. */
void fabric_offer(void);

#endif
