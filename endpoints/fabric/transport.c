/* Which transport a process uses: the one linked in, or the module, which is
 * found and opened.
 *
 * The places are those of an installed program (../lib/xylem beside it, the
 * package's library folder) and of a program run from its build tree, where
 * libtool keeps modules in .libs. All are tried relative to the file that is
 * running, so that a copied or moved installation works.
 */
#include "endpoints/fabric/transport.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/sys/quiet.h"
#include "overlay/base/err.h"

#define MODULE_FILE "xylem_ofi.so"

/* Below the folder of the running program. Libtool runs a program that is
 * not installed from .libs, one deeper than where it was built.
 */
static const char *const beside[] = {
    "",
    ".libs/",
    "endpoints/.libs/",
    "../endpoints/.libs/",
    "../../endpoints/.libs/",
    "../../../endpoints/.libs/",
    "../lib/xylem/",
    "../lib64/xylem/",
};

/* Writes the folder of the running program with its slash, or "". */
static void program_folder(char *dir, size_t size)
{
    ssize_t len = readlink("/proc/self/exe", dir, size - 1);
    char *slash;

    dir[len > 0 ? len : 0] = '\0';
    slash = strrchr(dir, '/');
    if (slash != NULL)
        slash[1] = '\0';
    else
        dir[0] = '\0';
}

static void *open_if_there(const char *dir, const char *below, char *why)
{
    char path[PATH_MAX];
    const char *slash = *dir && dir[strlen(dir) - 1] != '/' ? "/" : "";
    void *module;
    int len;

    len = snprintf(path, sizeof(path), "%s%s%s%s", dir, slash, below,
                   MODULE_FILE);
    if (len < 0 || (size_t)len >= sizeof(path) || access(path, R_OK) != 0)
        return NULL;
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module == NULL)
        snprintf(why, EP_WHY_MAX,
                 "the transport module cannot be loaded: %.160s (is "
                 "libfabric installed?)",
                 dlerror());
    return module;
}

static void *open_module(char *why)
{
    const char *env = getenv("XYLEM_MODULE_DIR");
    char dir[PATH_MAX];
    void *module = NULL;

    snprintf(why, EP_WHY_MAX,
             "the transport module %s is not installed: looked beside the "
             "program and in %.120s (XYLEM_MODULE_DIR can name its folder)",
             MODULE_FILE, XYLEM_PKGLIBDIR);
    if (env != NULL && *env)
        module = open_if_there(env, "", why);
    program_folder(dir, sizeof(dir));
    for (size_t i = 0;
         module == NULL && *dir && i < sizeof(beside) / sizeof(beside[0]); i++)
        module = open_if_there(dir, beside[i], why);
    if (module == NULL)
        module = open_if_there(XYLEM_PKGLIBDIR, "", why);
    return module;
}

static const struct ep_transport_ops *tcp;

void ep_transport_offer_tcp(const struct ep_transport_ops *ops)
{
    tcp = ops;
}

/* Is tcp what the module would come to? Where the user has providers or a
 * module of his own, or there may be a device for verbs, it decides itself.
 */
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
    static const struct ep_transport_ops *loaded;
    struct ep_quiet quiet;
    void *module;

    if (tcp != NULL && is_tcp_it(provider)) {
        *out = tcp;
        why[0] = '\0';
        return 0;
    }
    if (loaded == NULL) {
        ep_quiet_begin(&quiet);
        module = open_module(why);
        ep_quiet_end(&quiet);
        if (module == NULL)
            return OV_ENOENT;
        loaded = dlsym(module, EP_TRANSPORT_SYMBOL);
        if (loaded == NULL) {
            snprintf(why, EP_WHY_MAX,
                     "the transport module %s is of another version of "
                     "xylem: install both from one package",
                     MODULE_FILE);
            return OV_ENOENT;
        }
    }
    *out = loaded;
    why[0] = '\0';
    return 0;
}
