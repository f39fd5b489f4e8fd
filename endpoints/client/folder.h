/* The folder with the doors of a user's sessions, each under the number of its
 * process: $XDG_RUNTIME_DIR/xylem, or /tmp/xylem-UID where that is not set, or
 * is another user's, as sudo may leave it.
 *
 * A search for sessions looks into both folders, as some sessions may have been
 * started without that variable. A value that the user chose, and that is not
 * /run/user/UID, has its own sessions and no others.
 *
 * Anybody can make a folder in /tmp. A folder that is not the user's own, is a
 * link, or lets others in is not used, and nothing in it is trusted.
 */
#ifndef ENDPOINTS_CLIENT_FOLDER_H
#define ENDPOINTS_CLIENT_FOLDER_H

#include <sys/types.h>
#include <sys/un.h>

enum { EP_DOOR_FOLDERS = 2 }; /* in how many places a user's folder may be */

/* Opens the folder of this user, and makes it when it is missing. Returns a
 * descriptor; or -1, with the reason in `why` (EP_WHY_MAX bytes). */
int ep_door_folder_make(char *why);
/* Opens the user's nth folder, nth being less than EP_DOOR_FOLDERS. Returns -1
 * when there is none or it cannot be trusted. */
int ep_door_folder_open(uid_t uid, unsigned nth);

/* Returns the address of a door by way of the descriptor of its folder. It is
 * short whatever the folder is called, and stays right when somebody moves the
 * folder. */
struct sockaddr_un ep_door_address(int folder, const char *name);

/* Calls `see` with the number of each session that has a door in the folder.
 * O(doors). */
void ep_door_each(int folder, void (*see)(void *arg, int folder, pid_t pid),
                  void *arg);
/* Connects without waiting. Returns a descriptor that does not block; or -1
 * with errno, where EAGAIN means that the session is busy. The door of a
 * session that was killed is removed. */
int ep_door_dial(int folder, pid_t pid);
/* Removes the doors of sessions that were killed. O(doors). */
void ep_door_sweep(int folder);

#endif
