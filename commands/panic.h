/* What a failed assertion of ours says before it ends the program. */
#ifndef COMMANDS_PANIC_H
#define COMMANDS_PANIC_H

void panic_install(void);

#endif
