/* The table of launchers, and functions for all of them. */
#include "config.h"

#include "endpoints/boot/launcher.h"

#include <string.h>

const char *const ep_launcher_boot[2] = {"--boot", NULL};

const struct ep_launcher_ops *ep_launcher_ops(enum ep_launcher launcher)
{
    static const struct ep_launcher_ops *const table[EP_LAUNCHERS] = {
#define EP_LAUNCHER_PLACED(NAME, row) [EP_LAUNCHER_##NAME] = &ep_launcher_##row,
        EP_LAUNCHER_MAP(EP_LAUNCHER_PLACED)
#undef EP_LAUNCHER_PLACED
    };

    return table[launcher];
}

enum ep_launcher ep_launcher_find(const char *name)
{
    unsigned i = 0;

    while (i < EP_LAUNCHERS &&
           strcmp(name, ep_launcher_ops((enum ep_launcher)i)->name) != 0)
        i++;
    return (enum ep_launcher)i;
}
