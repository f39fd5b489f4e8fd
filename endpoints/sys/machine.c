/* Calls the module that looks up the machine's objects. */
#include "endpoints/sys/machine.h"

#include "endpoints/sys/module.h"
#include "overlay/base/err.h"

_Static_assert((int)TOPO_WHY_MAX >= (int)EP_WHY_MAX, "one text for both");

static const struct topo_machine_ops *open_module(char *why)
{
    static const struct ep_module module = {.what = "machine",
                                            .file = "xylem_machine.so",
                                            .symbol = TOPO_MACHINE_SYMBOL,
                                            .library = "hwloc"};
    static const struct topo_machine_ops *ops;

    if (ops == NULL)
        ops = ep_module_open(&module, why);
    return ops;
}

int ep_machine_load(struct topo_machine *out, char *why)
{
    const struct topo_machine_ops *ops = open_module(why);

    return ops != NULL ? ops->load(out, NULL, why) : OV_ENOENT;
}

int ep_machine_cpus(struct topo_cpus *out, enum topo_object object, char *why)
{
    const struct topo_machine_ops *ops = open_module(why);

    *out = (struct topo_cpus){0};
    return ops != NULL ? ops->cpus(out, object, NULL, why) : OV_ENOENT;
}
