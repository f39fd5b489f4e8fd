/* Descriptors 0, 1 and 2 as a program may expect them. */
#ifndef COMMANDS_STDIO_H
#define COMMANDS_STDIO_H

/* Opens /dev/null on those of 0, 1 and 2 that are closed (`<&-`), so that
 * nothing else ever takes their numbers. Call first thing in main. */
void stdio_open(void);

#endif
