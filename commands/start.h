/* What every program does at its start. */
#ifndef COMMANDS_START_H
#define COMMANDS_START_H

/* Opens /dev/null on those of the descriptors 0, 1 and 2 that are closed
 * (`<&-`), so that no other file gets these numbers. From then on a failed
 * assertion prints its condition before it ends the program. */
void start(void);

#endif
