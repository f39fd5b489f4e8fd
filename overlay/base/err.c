/* Texts of the error codes. */
#include "overlay/base/err.h"

#include <stddef.h>

static const struct {
    int code;
    const char *text;
} texts[] = {{0, "success"},
#define OV_ERR_TEXT(name, value, text) {name, text},
             OV_ERR_MAP(OV_ERR_TEXT)
#undef OV_ERR_TEXT
};

const char *ov_strerror(int code)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].code == code)
            return texts[i].text;
    }
    return "unknown error";
}
