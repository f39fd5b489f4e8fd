/* The folder with the doors of a user's sessions, each under the number of its
 * process: $XDG_RUNTIME_DIR/xylem, or /tmp/xylem-UID where that is not set, or
 * is another user's, as sudo may leave it.
 *
 * Who looks for sessions looks into both, as some may have been started without
 * that variable; but a value of one's own choice, which is not /run/user/UID,
 * has its own sessions and no others.
 *
 * Anybody can make a folder in /tmp. One that is not the user's own, is a link,
 * or lets others in is not used, and nothing in it is believed.
 */
#ifndef ENDPOINTS_CLIENT_FOLDER_H
#define ENDPOINTS_CLIENT_FOLDER_H

#include <sys/types.h>
#include <sys/un.h>

enum { EP_DOOR_FOLDERS = 2 }; /* where a user's may be */

/* Opens that of this user, and makes it where it is not there yet. Returns a
 * descriptor; or -1, and `why` (EP_WHY_MAX bytes) says why there is none. */
int ep_door_folder_make(char *why);
/* Opens the nth one of the user's, from 0 to EP_DOOR_FOLDERS; -1: there is none
 * there, or it is not to be believed. */
int ep_door_folder_open(uid_t uid, unsigned nth);

/* The address of a door by the descriptor of its folder: short, whatever that
 * is called, and still the same one where somebody has moved it. */
struct sockaddr_un ep_door_address(int folder, const char *name);

/* Sees the number of each session that has a door there. O(doors). */
void ep_door_each(int folder, void (*see)(void *arg, int folder, pid_t pid),
                  void *arg);
/* Connects, without waiting. Returns a descriptor that does not block; or -1
 * with errno, of which EAGAIN means that the session is busy. What one that was
 * killed has left is removed. */
int ep_door_dial(int folder, pid_t pid);
/* Removes what sessions that were killed have left. O(doors). */
void ep_door_sweep(int folder);

#endif
