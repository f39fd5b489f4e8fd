/* What a program asks of a terminal before it draws there. */
#ifndef ENDPOINTS_SYS_TERMINAL_H
#define ENDPOINTS_SYS_TERMINAL_H

#include <stdbool.h>

struct ep_terminal_size {
    unsigned columns, lines;
};

/* Returns its size; 80 by 24 where it does not say, or is no terminal. */
struct ep_terminal_size ep_terminal_size(int fd);
/* True when another program uses this terminal, or asks for a password. */
bool ep_terminal_is_taken(int fd);

#endif
