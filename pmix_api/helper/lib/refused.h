/* Directives that cannot be served, and without which a tool would get
 * something else than it asked for.
 *
 * They are refused by name, whether they are required or not: a tool that asks
 * for a process that stops for a debugger does not want one that runs. Any
 * other unknown directive is treated as a hint: it is ignored unless it is
 * required.
 */
#ifndef PMIX_API_HELPER_LIB_REFUSED_H
#define PMIX_API_HELPER_LIB_REFUSED_H

#include <stdbool.h>
#include <stddef.h>

#include <pmix_server.h>

/* True when the directive is refused. False for a flag that is not set, as that
 * asks for nothing. O(list). */
bool px_refused_of_spawn(const pmix_info_t *info);
bool px_refused_of_pull(const pmix_info_t *info);

#endif
