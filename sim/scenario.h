/* Scenarios: a job and what happens to it, in a small vocabulary.
 *
 *     # what is set up
 *     nodes 40              arity 3
 *     stdin 3M              bytes to everybody
 *     output 30000          bytes of each process, in lines of 64
 *     every 1ms             a line this often
 *     window 4              frames of stdin; frame 4K: their size
 *     kept 5                records that a node keeps
 *     heartbeat 2s
 *     on-loss continue      the job goes on without the lost; else it ends
 *     reader 7 never        the process of node 7; or a rate in bytes a second
 *     seed 5                jitter 50us
 *
 *     # what happens
 *     start
 *     wait joined           all nodes; or: lost, stalled, over
 *     wait 5ms              this much longer
 *     kill 5                also: reset, cut, deaf, mute, silence, freeze,
 *                           refuse, reject, reject-in, reject-out
 *     freeze 5 2s           for this long
 *     slow 5 20             by a factor
 *     cut 5-1 2s            between the two alone; also deaf, mute, reject
 *     kill hears:ask:2+1ms  the node that hears the second ask after all had
 *                           joined, 1 ms later; also says, claims: the node
 *                           that it is about, which also stands in for the
 *                           root; hello, answer, welcome
 *     console stuck         takes nothing from now on
 *
 *     # what must be so then
 *     expect lost 5         the launcher heard of it
 *     expect given-up 4     nodes
 *     expect stall 7        the node that holds up everybody
 *     expect read 7 all     stdin; or a number of bytes
 *     expect shown 7 all    output of its process
 *     expect end well       loss, stuck: of a run that is over
 *     expect orphans 3      and all other counts of sim/tally.h
 *
 * Words are separated by blanks; # begins a comment. Important events are
 * written when they happen, as lines `TIME us node N: WORDS`.
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
