/* Errors of libfabric in our own words. */
#ifndef ENDPOINTS_OFI_ERROR_H
#define ENDPOINTS_OFI_ERROR_H

#include <sys/types.h>

#include "endpoints/fabric/transport.h"

/* What a call of libfabric returned, 0 or a negative code: 0, OV_ENOMEM or
 * OV_EFABRIC.
 */
int ep_err_from_fi(ssize_t rc);

/* The reason for the owner that belongs to a provider's error, a positive
 * code.
 */
enum ep_down_why ep_down_from_fi(int fi_errno);

/* Writes a text of at most EP_WHY_MAX bytes. */
void ep_why(char *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
