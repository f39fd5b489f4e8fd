/* The helper of one PMIx tool (xylem-pmix), as the launcher starts it:
 *
 *     xylem-pmix DOORS SESSION NAMESPACE DIR
 *
 * DOORS is the folder with the session's door; SESSION is the door's name in
 * it, the number of the launcher. NAMESPACE is what tools see as the namespace
 * of the server. A folder for libpmix, and files for output that waits, are
 * made in DIR.
 *
 * Descriptor 3 is the tie: a socket of packets. When the helper is ready, it
 * sends the text of libpmix's own rendezvous file as its first packet. The
 * launcher sends a packet of one byte, with the connected socket of the tool.
 * The helper sends a second packet before it reads from that socket, and a
 * third one when the tool has been let in; the words in these do not matter.
 * The helper ends when its tool is gone, its session is gone, or the tie is
 * cut, after it has told the session all that the tool has read. If libpmix
 * does not start, it sends a sentence in place of the text, and ends with 1.
 */
#ifndef PMIX_API_HELPER_TIE_H
#define PMIX_API_HELPER_TIE_H

enum {
    PX_TIE_FD = 3,
    PX_TIE_TEXT_MAX = 8 * 1024, /* of the first packet */
};

/* Sends a packet to the launcher. Returns 0 or OV_ESYS. */
int px_tie_say(const char *text);
/* Takes the tool's socket, which is the caller's from now on; -1: there is
 * none, and the tie is cut. May block while the tie is not readable. */
int px_tie_take(void);

#endif
