/* Asks a terminal for its size and its state. */
#include "endpoints/sys/terminal.h"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { COLUMNS = 80, LINES = 24 };

struct ep_terminal_size ep_terminal_size(int fd)
{
    struct ep_terminal_size size = {.columns = COLUMNS, .lines = LINES};
    struct winsize is;

    if (ioctl(fd, TIOCGWINSZ, &is) != 0)
        return size;
    if (is.ws_col > 0)
        size.columns = is.ws_col;
    if (is.ws_row > 0)
        size.lines = is.ws_row;
    return size;
}

bool ep_terminal_is_taken(int fd)
{
    struct termios state;

    return tcgetpgrp(fd) != getpgrp() || tcgetattr(fd, &state) != 0 ||
           (state.c_lflag & ECHO) == 0;
}
