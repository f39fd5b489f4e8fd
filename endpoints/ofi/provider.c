/* Chooses the provider that carries the links.
 *
 * Each candidate is requested by name: a request without a name would return
 * layered providers and ones without connected endpoints, in an order that
 * changes with libfabric. Providers known to keep a processor busy while idle
 * are refused.
 */
#include "endpoints/ofi/provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "endpoints/ofi/address.h"
#include "endpoints/ofi/error.h"
#include "endpoints/ofi/only_tcp.h"
#include "endpoints/sys/quiet.h"

/* The libfabric version for which this code was written and measured; an older
 * one when it is built with an older libfabric. */
#if FI_MAJOR_VERSION > 1 || FI_MINOR_VERSION >= 17
#define API FI_VERSION(1, 17)
#else
#define API FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)
#endif

enum {
    NAMES_BYTES = 96,
    NAME_BYTES = 64,
    /* entries in the provider's queues beyond the operations that we post */
    QUEUE_MARGIN = 2
};

static struct fi_info *hints_new(const struct ep_transport_cfg *cfg,
                                 const char *name)
{
    struct fi_info *hints = fi_allocinfo();

    if (hints == NULL)
        return NULL;
    hints->caps = FI_MSG;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->addr_format = FI_SOCKADDR;
    hints->ep_attr->type = FI_EP_MSG;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->tx_attr->iov_limit = EP_SEND_SLICES_MAX;
    hints->tx_attr->size = (size_t)cfg->send_slots + QUEUE_MARGIN;
    hints->rx_attr->size = (size_t)cfg->posted_receives + QUEUE_MARGIN;
    if (name == NULL)
        return hints;
    hints->fabric_attr->prov_name = strdup(name);
    if (hints->fabric_attr->prov_name == NULL) {
        fi_freeinfo(hints);
        return NULL;
    }
    return hints;
}

/* Asks libfabric for a provider; node is a numeric address of this host or
 * NULL. */
static int ask(const struct ep_transport_cfg *cfg, const char *name,
               const char *node, struct fi_info **out)
{
    struct fi_info *hints = hints_new(cfg, name);
    uint64_t flags = node ? FI_SOURCE | FI_NUMERICHOST : 0;
    int rc;

    if (hints == NULL)
        return -FI_ENOMEM;
    rc = fi_getinfo(API, node, node ? "0" : NULL, flags, hints, out);
    fi_freeinfo(hints);
    return rc;
}

/* Returns why this provider cannot be used; NULL: no reason is known. */
static const char *refusal(const struct fi_info *info)
{
    const char *name = info->fabric_attr->prov_name;

    if (strcasecmp(name, "net") == 0)
        return "is an early tcp that keeps a processor busy while idle";
    if (strcasecmp(name, "tcp") == 0 &&
        info->fabric_attr->prov_version == FI_VERSION(118, 0))
        return "of libfabric 1.18.0 keeps a processor busy while idle: "
               "update libfabric";
    return NULL;
}

/* Lists the names of providers that could be used instead, with a blank before
 * each. */
static void list_usable(const struct ep_transport_cfg *cfg, char *names)
{
    struct fi_info *list = NULL;
    size_t len = 0;

    names[0] = '\0';
    if (ask(cfg, NULL, NULL, &list))
        list = NULL;
    for (const struct fi_info *at = list; at; at = at->next) {
        const char *name = at->fabric_attr->prov_name;
        char word[NAME_BYTES];

        snprintf(word, sizeof(word), " %s", name);
        if (refusal(at) || at->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT ||
            strstr(names, word) || len + strlen(word) >= NAMES_BYTES)
            continue;
        len += (size_t)snprintf(names + len, NAMES_BYTES - len, "%s", word);
    }
    fi_freeinfo(list);
}

/* Writes the address as libfabric reads it: a link-local one needs the name of
 * its interface. */
static void format_node(const union ep_sockaddr *addr, char *node)
{
    size_t len;

    ep_addr_format_host(addr, node);
    len = strlen(node);
    if (addr->sa.sa_family == AF_INET6 && addr->in6.sin6_scope_id != 0)
        snprintf(node + len, EP_ADDR_MAX - len, "%%%u",
                 addr->in6.sin6_scope_id);
}

/* Tries the provider of this name. */
static int try_name(const struct ep_transport_cfg *cfg, const char *name,
                    union ep_sockaddr *addr, struct fi_info **out, char *why)
{
    bool is_any = cfg->interface == NULL && !cfg->is_local;
    struct fi_info *list = NULL, *found = NULL;
    char host[EP_ADDR_MAX], names[NAMES_BYTES];
    const char *bad;
    int rc;

    format_node(addr, host);
    rc = ask(cfg, name, host, &list);
    /* the address of another interface may work */
    if (rc == -FI_ENODATA && is_any)
        rc = ask(cfg, name, NULL, &list);
    if (rc == -FI_ENOMEM)
        return OV_ENOMEM;
    if (rc == -FI_ENOSYS) {
        ep_why(why, "libfabric %u.%u is too old: %u.%u or newer is needed",
               FI_MAJOR(fi_version()), FI_MINOR(fi_version()), FI_MAJOR(API),
               FI_MINOR(API));
        return OV_EFABRIC;
    }
    for (struct fi_info *at = rc ? NULL : list; at && !found; at = at->next)
        if (at->ep_attr->type == FI_EP_MSG && at->src_addr != NULL &&
            at->ep_attr->rx_ctx_cnt != FI_SHARED_CONTEXT)
            found = at;
    bad = found ? refusal(found) : NULL;
    if (bad) {
        ep_why(why, "provider %.40s %s; use --provider tcp", name, bad);
    } else if (found) {
        *out = fi_dupinfo(found);
    } else {
        list_usable(cfg, names);
        ep_why(why,
               "libfabric has no provider \"%.40s\" for links at %.46s; it "
               "has:%s (choose one with --provider)",
               name, host, *names ? names : " none");
    }
    fi_freeinfo(rc ? NULL : list);
    if (bad || !found)
        return OV_EINVAL;
    return *out ? 0 : OV_ENOMEM;
}

/* Tries each provider that FI_PROVIDER names, in its order. */
static int try_users(const struct ep_transport_cfg *cfg, const char *names,
                     union ep_sockaddr *addr, struct fi_info **out, char *why)
{
    int rc = OV_EINVAL;

    ep_why(why, "FI_PROVIDER in the environment names no provider of "
                "libfabric: unset it, or give --provider");
    while (rc && *names) {
        size_t len = strcspn(names, ",");
        char name[NAME_BYTES];

        if (len > 0 && len < sizeof(name)) {
            memcpy(name, names, len);
            name[len] = '\0';
            rc = try_name(cfg, name, addr, out, why);
        }
        names += len + (names[len] == ',');
    }
    return rc;
}

static int choose(const struct ep_transport_cfg *cfg, union ep_sockaddr *addr,
                  struct fi_info **out, char *why)
{
    const char *users = getenv("FI_PROVIDER");

    if (cfg->provider)
        return try_name(cfg, cfg->provider, addr, out, why);
    if (users && *users && *users != '^')
        return try_users(cfg, users, addr, out, why);
    if (access(EP_TRANSPORT_DEVICES, F_OK) == 0 &&
        try_name(cfg, "verbs", addr, out, why) == 0)
        return 0;
    return try_name(cfg, "tcp", addr, out, why);
}

/* Allows libfabric to search for files of providers, or forbids it. libfabric's
 * first call searches dozens of folders for them, and a file that is found may
 * load the shared libfabric. So this is forbidden when tcp is linked in, which
 * is never used when the user has set this variable. */
static void look_for_files(bool may)
{
    if (!ep_ofi_only_tcp)
        return;
    if (may)
        unsetenv("FI_PROVIDER_PATH");
    else
        setenv("FI_PROVIDER_PATH", "/dev/null", 1);
}

int ep_provider_choose(const struct ep_transport_cfg *cfg,
                       union ep_sockaddr *addr, struct fi_info **out, char *why)
{
    struct ep_quiet quiet;
    int rc;

    /* the first call of libfabric loads more libraries */
    ep_quiet_begin(&quiet);
    look_for_files(false);
    rc = choose(cfg, addr, out, why);
    look_for_files(true);
    ep_quiet_end(&quiet);
    if (rc)
        return rc;
    if ((*out)->src_addrlen > sizeof(*addr)) {
        ep_why(why, "provider %.40s has no IP address here",
               (*out)->fabric_attr->prov_name);
        fi_freeinfo(*out);
        return OV_EINVAL;
    }
    *addr = (union ep_sockaddr){0};
    memcpy(addr, (*out)->src_addr, (*out)->src_addrlen);
    return 0;
}
