/* Scenarios: a job and what happens to it, written in a small language.
 *
 *     # the set-up
 *     nodes 40              arity 3
 *     stdin 3M              bytes of stdin for each process
 *     output 30000          bytes that each process writes, in lines of 64
 *     every 1ms             time between the lines of a process
 *     window 4              frames in the window of stdin
 *     frame 4K              size of a frame
 *     kept 5                own records that a node keeps at most
 *     heartbeat 2s
 *     on-loss continue      a job goes on when a node is lost; else it ends
 *     reader 7 never        the process of node 7 does not read; instead of
 *                           `never' a rate in bytes a second can be given
 *     seed 5                jitter 50us
 *
 *     # what happens
 *     start
 *     wait joined           runs until all nodes have joined; also: lost,
 *                           stalled, over
 *     wait 5ms              runs for this time
 *     kill 5                also: reset, cut, deaf, mute, silence, freeze,
 *                           refuse, reject, reject-in, reject-out
 *     freeze 5 2s           the fault lasts for this time
 *     slow 5 20             makes the node slower by this factor
 *     cut 5-1 2s            only between nodes 5 and 1; also deaf, mute, reject
 *     kill hears:ask:2+1ms  kills the node that receives the second ask after
 *                           all have joined, 1 ms after that. Instead of hears:
 *                           says (the sender), claims (the claiming node, which
 *                           is also struck instead of the root). Instead of
 *                           ask: hello, answer, welcome
 *     console stuck         the console takes nothing from now on
 *
 *     # what must be true then
 *     expect lost 5         the launcher has learnt that node 5 is lost
 *     expect given-up 4     it has given up 4 nodes
 *     expect stall 7        it has learnt that node 7 holds a stream up
 *     expect read 7 all     the process of node 7 has read all stdin; instead
 *                           of `all' a number of bytes can be given
 *     expect shown 7 all    the console has all output of that process
 *     expect end well       the run is over and ended well; also: loss, stuck
 *     expect orphans 3      and all other counts of sim/tally.h
 *
 * Blanks separate the words of a line; # begins a comment. Important events are
 * written when they happen, as lines `TIME us node N: TEXT`.
 */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include <stdbool.h>
#include <stdio.h>

/* Runs the scenario that is read from `in` and writes events to `out`, as long
 * as goes_on() returns true; it is called every few thousand items. Returns
 * true when everything was as expected and no rule was broken. Otherwise a line
 * of `out` says what is wrong, and in which line of the scenario; after a wait
 * that was in vain, further lines say who waits for what. The longest wait is
 * 1000 s of virtual time. */
bool sim_scenario_run(FILE *in, FILE *out, bool (*goes_on)(void));

#endif
