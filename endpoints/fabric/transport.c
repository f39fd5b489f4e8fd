/* Chooses the transport of a process: the one linked in, or the module. */
#include "endpoints/fabric/transport.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/sys/module.h"
#include "endpoints/sys/quiet.h"
#include "overlay/base/err.h"

static const struct ep_transport_ops *tcp;

void ep_transport_offer_tcp(const struct ep_transport_ops *ops)
{
    tcp = ops;
}

/* True when the module would choose tcp. When the user names providers or a
 * module, or there may be a device for verbs, only the module can decide. */
static bool is_tcp_it(const char *provider)
{
    const char *users = getenv("FI_PROVIDER");

    if (getenv("XYLEM_MODULE_DIR") || getenv("FI_PROVIDER_PATH"))
        return false;
    if (provider == NULL && users != NULL && *users)
        provider = users;
    if (provider != NULL)
        return strcmp(provider, "tcp") == 0;
    return access(EP_TRANSPORT_DEVICES, F_OK) != 0;
}

int ep_transport_load(const char *provider, const struct ep_transport_ops **out,
                      char *why)
{
    static const struct ep_module module = {.what = "transport",
                                            .file = "xylem_ofi.so",
                                            .symbol = EP_TRANSPORT_SYMBOL,
                                            .library = "libfabric"};
    static const struct ep_transport_ops *loaded;
    struct ep_quiet quiet;

    if (tcp != NULL && is_tcp_it(provider)) {
        *out = tcp;
        why[0] = '\0';
        return 0;
    }
    if (loaded == NULL) {
        ep_quiet_begin(&quiet);
        loaded = ep_module_open(&module, why);
        ep_quiet_end(&quiet);
        if (loaded == NULL)
            return OV_ENOENT;
    }
    *out = loaded;
    why[0] = '\0';
    return 0;
}
