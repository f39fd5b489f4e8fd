/* The table of launchers, and what they share. */
#include "config.h"

#include "endpoints/boot/launcher.h"

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
