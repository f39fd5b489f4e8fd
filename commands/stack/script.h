/* The shell script by which a node looks at its processes. */
#ifndef COMMANDS_STACK_SCRIPT_H
#define COMMANDS_STACK_SCRIPT_H

/* A text for `sh -c', which takes these arguments after its name:
 *
 * - the mark of commands/stack/marks.h, in whose form it writes; - the most
 * seconds that a tool may take for a process; - the processes, as "RANK:PID
 * RANK:PID"; - a command and its arguments; without one it takes gdb or
 * eu-stack.
 *
 * It looks at one process after the other, and behind each process at those
 * that are below it. SIGTERM ends it, and what it runs.
 */
extern const char stack_script[];

#endif
