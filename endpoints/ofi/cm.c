/* Private data of connections, as it is sent. */
#include "endpoints/ofi/cm.h"

#include <string.h>

#include "overlay/base/panic.h"

size_t ep_cm_encode(uint8_t *wire, const uint8_t *cm, size_t len_bytes)
{
    OV_ASSERT(len_bytes <= EP_CM_MAX);
    wire[0] = (uint8_t)len_bytes;
    if (len_bytes > 0)
        memcpy(wire + 1, cm, len_bytes);
    memset(wire + 1 + len_bytes, 0, EP_CM_MAX - len_bytes);
    return EP_CM_WIRE_MAX;
}

bool ep_cm_decode(const uint8_t *wire, size_t wire_bytes, const uint8_t **cm,
                  size_t *len_bytes)
{
    if (wire_bytes < 1 || wire[0] > EP_CM_MAX || wire[0] > wire_bytes - 1)
        return false;
    *cm = wire + 1;
    *len_bytes = wire[0];
    return true;
}
