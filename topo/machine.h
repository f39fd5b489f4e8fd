/* This machine: the sockets, cores and processors that processes can use.
 *
 * Only this module of xylem uses hwloc. Only processors that this process may
 * use are counted: a container, a batch system or the process's own binding can
 * leave it a part of the machine. A limit on processor time (a quota) changes
 * nothing here.
 *
 * The code that examines machines is in a module, `xylem_machine.so`, which
 * endpoints/sys/machine.h loads when it is needed: loading hwloc and its
 * libraries takes a fifth of the time in which a daemon starts, and few jobs
 * need them.
 */
#ifndef TOPO_MACHINE_H
#define TOPO_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "topo/object.h"
#include "topo/why.h"

/* Each number is at least 1. A core counts when at least one of its PUs
 * (hardware threads) may be used. */
struct topo_machine {
    uint32_t packages; /* sockets */
    uint32_t numa;     /* memory nodes near a usable PU */
    uint32_t cores;
    uint32_t pus; /* hardware threads */
};

/* The PUs of each object of a kind (such as each core), by the operating
 * system's numbers. */
struct topo_cpus {
    char **at; /* owned: sets in the text form of topo/ranges.h, such as
                  "0-7,32-39" */
    uint32_t count;
};

/* Describes this machine or, when xml_path is not NULL, the machine that
 * `lstopo FILE.xml` has recorded. Nothing stays open or allocated; processes
 * and the environment are left as they are. Cost: some milliseconds, 10 to 100
 * on machines of hundreds of cores. Returns 0, OV_EINVAL (the file is missing
 * or is not a topology), OV_ENOMEM or OV_ESYS with a sentence in why
 * (TOPO_WHY_MAX bytes, may be NULL).
 */
int topo_machine_load(struct topo_machine *out, const char *xml_path,
                      char *why);

/* Lists the objects of a kind in the order of the machine, each with its PUs
 * that may be used. Objects without a usable PU are skipped; the result has at
 * least one object. When a machine reports no cores, each PU counts as one;
 * when it reports no sockets, the whole machine counts as one. Cost and errors
 * are those of topo_machine_load(); after an error *out is empty. */
int topo_machine_cpus(struct topo_cpus *out, enum topo_object object,
                      const char *xml_path, char *why);
void topo_cpus_fini(struct topo_cpus *cpus);

/* The functions that the module offers. */
struct topo_machine_ops {
    int (*load)(struct topo_machine *out, const char *xml_path, char *why);
    int (*cpus)(struct topo_cpus *out, enum topo_object object,
                const char *xml_path, char *why);
};

#define TOPO_MACHINE_SYMBOL "topo_machine_hwloc"
extern const struct topo_machine_ops topo_machine_hwloc
    __attribute__((visibility("default")));

#endif
