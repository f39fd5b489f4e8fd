/* The folder with the doors of a user's sessions. Each door is named by the
 * process number of its session's launcher. The folder is
 * $XDG_RUNTIME_DIR/xylem; or /tmp/xylem-UID when that variable is not set, or
 * names a folder of another user, as it may after sudo.
 *
 * A search for sessions looks into both folders, as some sessions may have been
 * started without that variable. When the user has set it to anything but
 * /run/user/UID, only sessions in that folder are found.
 *
 * Anybody can make a folder in /tmp. A folder is not used, and nothing in it is
 * trusted, when it belongs to another user, is a link, or is open to others.
 */
#ifndef ENDPOINTS_CLIENT_FOLDER_H
#define ENDPOINTS_CLIENT_FOLDER_H

#include <sys/types.h>
#include <sys/un.h>

enum { EP_DOOR_FOLDERS = 2 }; /* how many folders may have doors of a user */

/* Opens the folder of this user, and makes it if it does not exist. Returns a
 * descriptor; or -1, with the reason in `why` (EP_WHY_MAX bytes). */
int ep_door_folder_make(char *why);
/* Opens one of the user's folders, nth being less than EP_DOOR_FOLDERS. Returns
 * -1 when the folder does not exist or cannot be trusted. */
int ep_door_folder_open(uid_t uid, unsigned nth);

/* Returns the address of the door with this name, made with the descriptor of
 * its folder. Such an address is short, whatever the folder is called, and
 * stays right when somebody moves the folder. */
struct sockaddr_un ep_door_address(int folder, const char *name);

/* Calls `see` for each session that has a door in the folder, with the process
 * number that names the door. O(doors). */
void ep_door_each(int folder, void (*see)(void *arg, int folder, pid_t pid),
                  void *arg);
/* Connects to a door without waiting. Returns a descriptor that does not block;
 * or -1 with errno, where EAGAIN means that the session is busy. When the
 * session was killed, its door is removed. */
int ep_door_dial(int folder, pid_t pid);
/* Removes the doors of sessions that were killed. O(doors). */
void ep_door_sweep(int folder);

#endif
