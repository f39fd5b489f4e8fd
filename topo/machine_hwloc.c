/* Describes this machine by hwloc.
 *
 * hwloc opens all its plugins as soon as it starts: XML, OpenCL and X11
 * libraries come along, which costs 10 ms and 3 MiB in a process that should
 * stay small. Only the environment can prevent that, so two variables are set
 * during the call. Its x86 backend, which moves the calling thread from
 * processor to processor, is left out as well: Linux reports all that is
 * needed.
 */
#include "topo/machine.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>

#include "overlay/base/err.h"

/* A variable of the environment that is changed during a call of hwloc. */
struct setting {
    const char *name;
    const char *value;
    char *before; /* owned; NULL: it was not set */
};

static int setting_begin(struct setting *setting)
{
    const char *before = getenv(setting->name);

    setting->before = NULL;
    if (before != NULL) {
        setting->before = strdup(before);
        if (setting->before == NULL)
            return OV_ENOMEM;
    }
    if (setenv(setting->name, setting->value, 1) == 0)
        return 0;
    free(setting->before);
    return OV_ENOMEM;
}

static void setting_end(struct setting *setting)
{
    if (setting->before != NULL)
        setenv(setting->name, setting->before, 1);
    else
        unsetenv(setting->name);
    free(setting->before);
}

/* Tells hwloc to ignore kinds of objects that are not counted here. An old
 * hwloc that does not know one of these settings only does needless work. */
static void make_light(hwloc_topology_t topology)
{
    unsigned long flags = hwloc_topology_get_flags(topology);

    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_PACKAGE,
                                   HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE,
                                   HWLOC_TYPE_FILTER_KEEP_ALL);
#if HWLOC_API_VERSION >= 0x00020100
    hwloc_topology_set_components(
        topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
#endif
#if HWLOC_API_VERSION >= 0x00020800
    flags |= HWLOC_TOPOLOGY_FLAG_NO_DISTANCES |
             HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
#endif
    hwloc_topology_set_flags(topology, flags);
}

/* Counts the objects of a type that have a PU in `usable`; at least 1. */
static uint32_t count_usable(hwloc_topology_t topology, hwloc_obj_type_t type,
                             hwloc_const_cpuset_t usable)
{
    hwloc_obj_t obj = NULL;
    uint32_t count = 0;

    while ((obj = hwloc_get_next_obj_by_type(topology, type, obj)) != NULL)
        count += hwloc_bitmap_intersects(obj->cpuset, usable) != 0;
    return count > 0 ? count : 1;
}

/* The PUs that this process may use: those that it is allowed to use,
 * restricted to those that it is bound to, if it is bound. */
static hwloc_cpuset_t usable_pus(hwloc_topology_t topology)
{
    hwloc_cpuset_t usable =
        hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
    hwloc_cpuset_t bound = hwloc_bitmap_alloc();

    if (usable != NULL && bound != NULL &&
        hwloc_topology_is_thissystem(topology) &&
        hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS) == 0 &&
        hwloc_bitmap_intersects(usable, bound))
        hwloc_bitmap_and(usable, usable, bound);
    hwloc_bitmap_free(bound);
    return usable;
}

static int count_all(struct topo_machine *out, hwloc_topology_t topology,
                     char *why)
{
    hwloc_cpuset_t usable = usable_pus(topology);

    if (usable == NULL) {
        topo_why(why, "out of memory for the topology of this machine");
        return OV_ENOMEM;
    }
    *out = (struct topo_machine){
        .packages = count_usable(topology, HWLOC_OBJ_PACKAGE, usable),
        .numa = count_usable(topology, HWLOC_OBJ_NUMANODE, usable),
        .cores = count_usable(topology, HWLOC_OBJ_CORE, usable),
        .pus = count_usable(topology, HWLOC_OBJ_PU, usable),
    };
    /* Some virtual machines report processors but no cores. */
    if (hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) <= 0)
        out->cores = out->pus;
    hwloc_bitmap_free(usable);
    return 0;
}

/* --- the processors of objects */

static int cpus_add(struct topo_cpus *cpus, hwloc_const_cpuset_t cpuset)
{
    int len = hwloc_bitmap_list_snprintf(NULL, 0, cpuset);
    char *text = malloc((size_t)len + 1);

    if (text == NULL)
        return OV_ENOMEM;
    hwloc_bitmap_list_snprintf(text, (size_t)len + 1, cpuset);
    cpus->at[cpus->count++] = text;
    return 0;
}

static int list_objects(struct topo_cpus *cpus, hwloc_topology_t topology,
                        hwloc_obj_type_t type, hwloc_const_cpuset_t usable)
{
    hwloc_cpuset_t both = hwloc_bitmap_alloc();
    hwloc_obj_t obj = NULL;
    int rc = both == NULL ? OV_ENOMEM : 0;

    while (rc == 0 && (obj = hwloc_get_next_obj_by_type(topology, type, obj))) {
        rc = hwloc_bitmap_and(both, obj->cpuset, usable) != 0 ? OV_ENOMEM : 0;
        if (rc == 0 && !hwloc_bitmap_iszero(both))
            rc = cpus_add(cpus, both);
    }
    hwloc_bitmap_free(both);
    return rc;
}

static int list_cpus(struct topo_cpus *cpus, enum topo_object object,
                     hwloc_topology_t topology, char *why)
{
    hwloc_obj_type_t type =
        object == TOPO_CORE ? HWLOC_OBJ_CORE : HWLOC_OBJ_PACKAGE;
    hwloc_cpuset_t usable = usable_pus(topology);
    int count, rc = 0;

    /* Some virtual machines report processors but nothing above them. */
    if (hwloc_get_nbobjs_by_type(topology, type) <= 0)
        type = object == TOPO_CORE ? HWLOC_OBJ_PU : HWLOC_OBJ_MACHINE;
    count = hwloc_get_nbobjs_by_type(topology, type);
    cpus->at = calloc((size_t)count + 1, sizeof(cpus->at[0]));
    if (usable == NULL || cpus->at == NULL)
        rc = OV_ENOMEM;
    if (rc == 0)
        rc = list_objects(cpus, topology, type, usable);
    if (rc == 0 && cpus->count == 0) /* hwloc found no such object with a usable
                                        PU */
        rc = cpus_add(cpus, usable);
    hwloc_bitmap_free(usable);
    if (rc != 0) {
        topo_cpus_fini(cpus);
        topo_why(why, "out of memory for the topology of this machine");
    }
    return rc;
}

/* --- loading */

/* Where the result goes: one of the two is NULL. */
struct wanted {
    struct topo_machine *counts;
    struct topo_cpus *cpus;
    enum topo_object object;
};

static int load(const struct wanted *wanted, const char *xml_path, char *why)
{
    hwloc_topology_t topology = NULL;
    int rc = 0;

    if (hwloc_topology_init(&topology) != 0) {
        topo_why(why, "out of memory for the topology of this machine");
        return OV_ENOMEM;
    }
    make_light(topology);
    if (xml_path != NULL && hwloc_topology_set_xml(topology, xml_path) != 0) {
        topo_why(why,
                 "%s cannot be read as a topology: %s (lstopo FILE.xml "
                 "records one)",
                 xml_path, strerror(errno));
        rc = OV_EINVAL;
    } else if (hwloc_topology_load(topology) != 0) {
        topo_why(why, "the topology of %s cannot be loaded: %s",
                 xml_path != NULL ? xml_path : "this machine", strerror(errno));
        rc = xml_path != NULL ? OV_EINVAL : OV_ESYS;
    } else if (wanted->counts != NULL) {
        rc = count_all(wanted->counts, topology, why);
    } else {
        rc = list_cpus(wanted->cpus, wanted->object, topology, why);
    }
    hwloc_topology_destroy(topology);
    return rc;
}

static int load_quietly(const struct wanted *wanted, const char *xml_path,
                        char *why)
{
    struct setting settings[] = {
        {.name = "HWLOC_PLUGINS_PATH", .value = "/nonexistent"},
        /* Without this hwloc writes reports of firmware errors to our stderr.
         */
        {.name = "HWLOC_HIDE_ERRORS", .value = "2"},
    };
    size_t count = sizeof(settings) / sizeof(settings[0]);
    size_t begun = 0;
    int rc = 0;

    while (rc == 0 && begun < count) {
        rc = setting_begin(&settings[begun]);
        begun += rc == 0;
    }
    if (rc == 0)
        rc = load(wanted, xml_path, why);
    else
        topo_why(why, "out of memory for the topology of this machine");
    while (begun > 0)
        setting_end(&settings[--begun]);
    return rc;
}

int topo_machine_load(struct topo_machine *out, const char *xml_path, char *why)
{
    struct wanted wanted = {.counts = out};

    return load_quietly(&wanted, xml_path, why);
}

int topo_machine_cpus(struct topo_cpus *out, enum topo_object object,
                      const char *xml_path, char *why)
{
    struct wanted wanted = {.cpus = out, .object = object};

    *out = (struct topo_cpus){0};
    return load_quietly(&wanted, xml_path, why);
}

const struct topo_machine_ops topo_machine_hwloc = {.load = topo_machine_load,
                                                    .cpus = topo_machine_cpus};
