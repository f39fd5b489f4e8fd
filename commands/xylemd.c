/* The program xylemd, the daemon, which xylem starts; users do not. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands/fabric.h"
#include "commands/start.h"
#include "config.h"
#include "endpoints/boot/boot_env.h"
#include "endpoints/daemon/daemon.h"
#include "endpoints/spawn/leftover.h"
#include "endpoints/spawn/spawner.h"
#include "overlay/base/err.h"

enum {
    SWEEP_MS = 8000
}; /* the limit of a sweep, which is less than the time that the starter waits
    */

/* True when the only argument is this option. */
static bool is_alone(int argc, char **argv, const char *option)
{
    return argc == 2 && strcmp(argv[1], option) == 0;
}

/* Ends processes that a lost daemon has left on this host; see `sweeps.h'. */
static int sweep(const char *who)
{
    struct ep_mark mark = {.node = 0};
    struct ep_leftover what = {.of = &mark};
    int end = 0, found;

    if (sscanf(who, "%16" SCNx64 ".%u%n", &mark.session, &mark.node, &end) !=
            2 ||
        who[end] != '\0') {
        fputs("xylemd: --sweep takes SESSION.NODE\n", stderr);
        return 2;
    }
    found = ep_leftover_end(&what, SWEEP_MS);
    if (found < 0) {
        fprintf(stderr,
                "xylemd: cannot look for processes that lost daemons have "
                "left: %s\n",
                ov_strerror(found));
        return 1;
    }
    printf("\n" EP_SWEPT " %d\n", found);
    return 0;
}

int main(int argc, char **argv)
{
    struct ep_spawner *spawner;
    struct text_buf text = {0};
    bool is_env = is_alone(argc, argv, "--boot-env");

    start();
    fabric_offer();
    /* Removes the start-up text, which has a secret, from the environment
     * before other processes can read or inherit it. */
    if (is_env && ep_boot_env_take(&text) != 0) {
        fputs("xylemd: there is no start-up text in the environment: it is "
              "started by `xylem run', not by hand\n",
              stderr);
        return 2;
    }
    if (is_alone(argc, argv, "-V") || is_alone(argc, argv, "--version")) {
        printf("xylemd %s\n", PACKAGE_VERSION);
        return 0;
    }
    if (is_alone(argc, argv, "-h") || is_alone(argc, argv, "--help")) {
        printf("Usage: xylemd --boot\n       xylemd --boot-env\n       xylemd "
               "--sweep SESSION.NODE\n\nThe daemon of xylem, started by `xylem "
               "run', by another daemon, or by\na resource manager. It takes "
               "its configuration from stdin, or from the\nenvironment. With "
               "--sweep it ends what such a daemon has left that was "
               "lost.\n");
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "--sweep") == 0)
        return sweep(argv[2]);
    if (!is_env && !is_alone(argc, argv, "--boot")) {
        fputs("xylemd: it is started by `xylem run', not by hand (try "
              "`xylemd --help')\n",
              stderr);
        return 2;
    }
    ep_daemon_adopt();
    if (ep_spawner_open(0, &spawner)) {
        fputs("xylemd: cannot start xylem's process that starts all others "
              "(ulimit -u may be too low)\n",
              stderr);
        return 1;
    }
    return ep_daemon_run(spawner, is_env ? &text : NULL);
}
