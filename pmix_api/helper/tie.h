/* The helper of one PMIx tool (xylem-pmix), as the launcher starts it:
 *
 *     xylem-pmix DOORS SESSION NAMESPACE DIR
 *
 * DOORS is the folder with the session's door, SESSION its name there: the
 * number of the launcher. NAMESPACE is what tools see as that of the server,
 * and below DIR libpmix gets a folder, and output that waits a file.
 *
 * Descriptor 3 is the tie: a socket of packets. The helper sends the text of
 * libpmix's own rendezvous file as its first packet: it is ready then. The
 * launcher sends one of a byte, with the connected socket of the tool. The
 * helper sends a second packet before it reads from that socket, and a third
 * one when the tool has been let in: their words do not matter. The helper ends
 * when its tool is gone, its session is, or the tie is cut: with all that the
 * tool has read told to the session. It ends with 1, and a sentence in place of
 * the text, where libpmix does not start.
 */
#ifndef PMIX_API_HELPER_TIE_H
#define PMIX_API_HELPER_TIE_H

enum {
    PX_TIE_FD = 3,
    PX_TIE_TEXT_MAX = 8 * 1024, /* of the first packet */
};

/* Sends a packet. Returns 0 or OV_ESYS. */
int px_tie_say(const char *text);
/* The tool's socket, the caller's from now on; -1: there is none, and the tie
 * is cut. May block where it is not readable. */
int px_tie_take(void);

#endif
