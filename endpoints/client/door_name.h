/* The socket of a door and its name, by which clients find it. */
#ifndef ENDPOINTS_CLIENT_DOOR_NAME_H
#define ENDPOINTS_CLIENT_DOOR_NAME_H

#include <stdbool.h>
#include <sys/types.h>

enum { EP_DOOR_NAME_BYTES = 16 };

struct ep_door_name {
    int folder, fd; /* owned: the folder and the socket; -1: none */
    char text[EP_DOOR_NAME_BYTES];
    /* the inode of the file to which the name should lead; 0: no name */
    ino_t inode;
};

/* Listens at a new socket, and gives it the process number as its name. Returns
 * 0; or OV_ESYS with the reason in `why` (EP_WHY_MAX bytes), and *name can be
 * closed. Both descriptors must be -1 before. */
int ep_door_name_open(struct ep_door_name *name, char *why);
/* Tells whether the name still leads to the socket. */
bool ep_door_name_is_there(const struct ep_door_name *name);
/* Removes the name, unless it is that of another socket, and closes the socket.
 * Clients that are connected stay connected. Further calls change nothing. */
void ep_door_name_close(struct ep_door_name *name);

#endif
