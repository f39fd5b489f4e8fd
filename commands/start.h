/* What every program does first. */
#ifndef COMMANDS_START_H
#define COMMANDS_START_H

/* Opens /dev/null on those of descriptors 0, 1 and 2 that are closed (`<&-`),
 * so that nothing else ever takes their numbers. From then on a failed
 * assertion of ours says what it is before it ends the program. */
void start(void);

#endif
