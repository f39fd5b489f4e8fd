/* Finds modules.
 *
 * For an installed program they are in ../lib/xylem relative to it or in the
 * package's library folder; for a program that runs from its build tree they
 * are in .libs, where libtool puts them. All these folders are relative to the
 * running program's file, so that a copied or moved installation works.
 */
#include "endpoints/sys/module.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "endpoints/sys/beside.h"

/* Relative to the folder of the running program. Libtool runs a program that is
 * not installed from .libs, one level below the folder in which it was
 * built. */
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

static void *open_if_there(const struct ep_module *module, const char *dir,
                           const char *below, char *why)
{
    char path[PATH_MAX];
    const char *slash = *dir && dir[strlen(dir) - 1] != '/' ? "/" : "";
    void *opened;
    int len;

    len = snprintf(path, sizeof(path), "%s%s%s%s", dir, slash, below,
                   module->file);
    if (len < 0 || (size_t)len >= sizeof(path) || access(path, R_OK) != 0)
        return NULL;
    opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (opened == NULL)
        snprintf(why, EP_WHY_MAX,
                 "the %s module cannot be loaded: %.160s (is %s installed?)",
                 module->what, dlerror(), module->library);
    return opened;
}

static void *open_module(const struct ep_module *module, char *why)
{
    const char *env = getenv("XYLEM_MODULE_DIR");
    char dir[PATH_MAX];
    void *opened = NULL;

    snprintf(why, EP_WHY_MAX,
             "the %s module %s is not installed: looked beside the "
             "program and in %.120s (XYLEM_MODULE_DIR can name its folder)",
             module->what, module->file, XYLEM_PKGLIBDIR);
    if (env != NULL && *env)
        opened = open_if_there(module, env, "", why);
    ep_beside_folder(dir, sizeof(dir));
    for (size_t i = 0;
         opened == NULL && *dir && i < sizeof(beside) / sizeof(beside[0]); i++)
        opened = open_if_there(module, dir, beside[i], why);
    if (opened == NULL)
        opened = open_if_there(module, XYLEM_PKGLIBDIR, "", why);
    return opened;
}

const void *ep_module_open(const struct ep_module *module, char *why)
{
    void *opened = open_module(module, why);
    const void *symbol = opened != NULL ? dlsym(opened, module->symbol) : NULL;

    if (opened != NULL && symbol == NULL)
        snprintf(why, EP_WHY_MAX,
                 "the %s module %s is of another version of xylem: install "
                 "both from one package",
                 module->what, module->file);
    return symbol;
}
