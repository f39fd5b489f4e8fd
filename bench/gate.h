/* A start line for processes that the measuring script does not start itself.
 *
 * GATE is a folder with two fifos. A process that comes to the gate writes one
 * byte to `ready` and waits until somebody opens `go` for writing; the script
 * counts the bytes, looks at the clock and opens `go`. What is measured after
 * that holds no time for launching, on either side of a comparison.
 */
#ifndef BENCH_GATE_H
#define BENCH_GATE_H

/* Report one byte and wait for the start. Ends the program with a message
 * when the gate is not there. */
void gate_wait(const char *gate);

/* Report one byte: this process has come to its end. */
void gate_report(const char *gate);

#endif
