/* An observer that watches a little world and holds it to the rules.
 *
 * It reads the frames on the links and what goes in and out of each node, and
 * keeps books of its own, of each link and each node: it asks the nodes little
 * beyond what the drivers see. What it checks, at every step:
 *
 *   - no more frames are at a transport than the slots, data and all;
 *   - a child sends no frame beyond its limit; a parent promises
 *     no more than up_frames beyond what it is done with, and holds no more,
 *     those of the child's earlier links included;
 *   - a child is sent nothing beyond its reported base and the window, frame
 *     after frame from the head in its hello on; a base is no more than what
 *     all nodes that hang on it have consumed;
 *   - what a node keeps of a stream, and of its own records, is within the
 *     windows, and its own records are released by an acknowledgement only;
 *   - the root acknowledges what its sinks have, in order, and nothing else;
 *   - answers and acknowledgements go to the nodes above the one they are for;
 *   - a claim names the nodes beneath, by parents that may be theirs.
 */
#ifndef TESTS_UNIT_JUDGE_H
#define TESTS_UNIT_JUDGE_H

#include "tests/unit/world.h"

/* Begins to watch; to be called right after world_open(). */
void judge_open(struct world *w);
/* To be called before world_close(). */
void judge_close(struct world *w);

#endif
