/* Translates errors of libfabric into ours. */
#ifndef ENDPOINTS_OFI_ERROR_H
#define ENDPOINTS_OFI_ERROR_H

#include <sys/types.h>

#include "endpoints/fabric/transport.h"

/* Translates the result of a libfabric call, 0 or a negative code, to 0,
 * OV_ENOMEM or OV_EFABRIC. */
int ep_err_from_fi(ssize_t rc);

/* Translates a provider's error, a positive code, to the reason for on_down. */
enum ep_down_why ep_down_from_fi(int fi_errno);

/* Writes a text of at most EP_WHY_MAX bytes to `why`. */
void ep_why(char *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
