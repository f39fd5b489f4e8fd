/* The table of launchers, and what they share. */
#include "config.h"

#include "endpoints/boot/launcher.h"

#include <string.h>

const char *const ep_launcher_boot[2] = {"--boot", NULL};

const struct ep_launcher_ops *ep_launcher_ops(enum ep_launcher launcher)
{
    static const struct ep_launcher_ops *const table[EP_LAUNCHERS] = {
        [EP_LAUNCHER_LOCAL] = &ep_launcher_local,
        [EP_LAUNCHER_SSH] = &ep_launcher_ssh,
        [EP_LAUNCHER_SLURM] = &ep_launcher_slurm,
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
