/* The transport that is linked in. */
#ifndef COMMANDS_FABRIC_H
#define COMMANDS_FABRIC_H

/* Offers it to whoever opens a session in this process. At the start. */
void fabric_offer(void);

#endif
