/* Translates errors of libfabric into ours. */
#include "endpoints/ofi/error.h"

#include <stdarg.h>
#include <stdio.h>

#include <rdma/fi_errno.h>

#include "overlay/base/err.h"

int ep_err_from_fi(ssize_t rc)
{
    if (rc == 0)
        return 0;
    return rc == -FI_ENOMEM ? OV_ENOMEM : OV_EFABRIC;
}

enum ep_down_why ep_down_from_fi(int fi_errno)
{
    switch (fi_errno) {
    case 0:
    case FI_ECANCELED:
    case FI_ECONNRESET:
    case FI_ECONNABORTED:
    case FI_ENOTCONN:
    case FI_ESHUTDOWN:
    case FI_EIO: /* tcp gives this when the peer closed before it answered */
    case EPIPE:
        return EP_DOWN_CLOSED;
    case FI_ECONNREFUSED:
        return EP_DOWN_NOBODY;
    default:
        return EP_DOWN_ERROR;
    }
}

void ep_why(char *why, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, EP_WHY_MAX, format, args);
    va_end(args);
}
