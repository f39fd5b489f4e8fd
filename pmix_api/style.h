/* How the lines look that a tool has asked for. */
#ifndef PMIX_API_STYLE_H
#define PMIX_API_STYLE_H

#include <stdint.h>

#include "pmix_api/spawn.h"
#include "text/style.h"

/* output: of enum px_output_flag. Of a tag, which has the rank in it, and a
 * rank the tag counts. */
static inline struct text_style px_output_style(uint32_t output)
{
    struct text_style style = {.has_time = (output & PX_OUTPUT_TIME) != 0};

    if ((output & PX_OUTPUT_TAG) != 0)
        style.label = TEXT_LABEL_FULL;
    else if ((output & PX_OUTPUT_RANK) != 0)
        style.label = TEXT_LABEL_RANK;
    if ((output & PX_OUTPUT_XML) != 0)
        style.format = TEXT_FORMAT_XML;
    return style;
}

#endif
