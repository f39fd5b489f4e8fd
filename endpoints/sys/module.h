/* Modules: parts of a program that are loaded when they are needed, because the
 * libraries that they bring along cost time and memory.
 */
#ifndef ENDPOINTS_SYS_MODULE_H
#define ENDPOINTS_SYS_MODULE_H

#include "endpoints/sys/why.h"

struct ep_module {
    const char *what;    /* name of the module in messages: "transport" */
    const char *file;    /* the module's file: xylem_NAME.so */
    const char *symbol;  /* the symbol that the module exports */
    const char *library; /* the library that the module needs, for messages */
};

/* Finds and loads a module, for as long as the process lives. It is searched in
 * XYLEM_MODULE_DIR, beside the running program and in the package's folder.
 * Returns the address of its symbol, or NULL with a sentence in why (EP_WHY_MAX
 * bytes). */
const void *ep_module_open(const struct ep_module *module, char *why);

#endif
