/* The tie between the launcher and the helper of one PMIx tool, which the
 * launcher starts as:
 *
 *     xylem-pmix DOORS SESSION NAMESPACE DIR
 *
 * DOORS is the folder with the session's door; SESSION is the door's name in
 * that folder, which is the launcher's pid. NAMESPACE is the namespace of the
 * server that tools see. A folder for libpmix, and files for output that waits,
 * are made in DIR.
 *
 * Descriptor 3 is the tie: a socket of packets. When the helper is ready, it
 * sends the text of libpmix's own rendezvous file as its first packet. The
 * launcher sends a packet of one byte, with the connected socket of the tool.
 * The helper sends a second packet before it reads from that socket, and a
 * third one when the tool has been let in; the contents of these two do not
 * matter. The helper ends when its tool has disconnected, its session has
 * ended, or the launcher closes the tie; before that it reports to the session
 * what the tool has read. If libpmix does not start, the helper sends a
 * sentence in place of the text, and ends with exit code 1.
 */
#ifndef PMIX_API_HELPER_TIE_H
#define PMIX_API_HELPER_TIE_H

enum {
    PX_TIE_FD = 3,
    PX_TIE_TEXT_MAX = 8 * 1024, /* the most bytes of the first packet */
};

/* Sends a packet to the launcher. Returns 0 or OV_ESYS. */
int px_tie_say(const char *text);
/* Receives the tool's socket, which the caller owns from then on; -1: the
 * launcher has closed the tie. May block while the tie is not readable. */
int px_tie_take(void);

#endif
