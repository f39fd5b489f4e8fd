/* xylemd: the daemon. People do not start it by hand. */
#include <stdio.h>
#include <string.h>

#include "commands/panic.h"
#include "commands/stdio.h"
#include "config.h"
#include "endpoints/daemon/daemon.h"
#include "endpoints/spawn/spawner.h"

int main(int argc, char **argv)
{
    struct ep_spawner *spawner;

    stdio_open();
    panic_install();
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("xylemd %s\n", PACKAGE_VERSION);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        printf("Usage: xylemd --boot\n\nThe daemon of xylem, started by "
               "`xylem run' or by another daemon.\nIt takes its configuration "
               "from stdin.\n");
        return 0;
    }
    if (argc != 2 || strcmp(argv[1], "--boot") != 0) {
        fputs("xylemd: it is started by `xylem run', not by hand (try "
              "`xylemd --help')\n",
              stderr);
        return 2;
    }
    if (ep_spawner_open(0, &spawner)) {
        fputs("xylemd: cannot fork the process that starts all others\n",
              stderr);
        return 1;
    }
    return ep_daemon_run(spawner);
}
