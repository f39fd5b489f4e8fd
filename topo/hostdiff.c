/* Removes the hosts of one list from another list. */
#include "topo/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

static int check_excluded(const struct topo_hosts *hosts,
                          const struct topo_hosts *list, const char *sign,
                          char *why)
{
    struct topo_hosts outside;
    char *text;
    int rc = 0;

    topo_hosts_init(&outside);
    for (uint32_t i = 0; rc == 0 && i < list->count; i++) {
        const char *name = topo_hosts_name(list, i);

        if (topo_hosts_find(hosts, name, strlen(name)) == TOPO_NONE)
            rc = topo_hosts_add(&outside, name, strlen(name), 0);
    }
    if (rc != 0) {
        topo_why(why, "%s", ov_strerror(rc));
    } else if (outside.count > 0) {
        text = topo_hosts_fold_short(&outside, 200);
        topo_why(why, "%s: %s %s not among the hosts", sign,
                 text == NULL ? "one" : text, outside.count > 1 ? "are" : "is");
        free(text);
        rc = OV_EINVAL;
    } else if (list->count == hosts->count) {
        topo_why(why, "%s leaves no host", sign);
        rc = OV_EINVAL;
    }
    topo_hosts_fini(&outside);
    return rc;
}

int topo_hosts_exclude(struct topo_hosts *hosts, const struct topo_hosts *list,
                       const char *sign, char *why)
{
    struct topo_hosts out;
    int rc = check_excluded(hosts, list, sign, why);

    topo_hosts_init(&out);
    for (uint32_t i = 0; rc == 0 && i < hosts->count; i++) {
        const char *name = topo_hosts_name(hosts, i);

        if (topo_hosts_find(list, name, strlen(name)) == TOPO_NONE)
            rc =
                topo_hosts_add(&out, name, strlen(name), hosts->items[i].slots);
        if (rc != 0)
            topo_why(why, "%s", ov_strerror(rc));
    }
    if (rc != 0) {
        topo_hosts_fini(&out);
        return rc;
    }
    topo_hosts_fini(hosts);
    *hosts = out;
    return 0;
}
