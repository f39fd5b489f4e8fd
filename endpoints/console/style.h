/* How output is shown, and whose it is. */
#ifndef ENDPOINTS_CONSOLE_STYLE_H
#define ENDPOINTS_CONSOLE_STYLE_H

#include <stdbool.h>
#include <stdint.h>

enum ep_label_mode {
    EP_LABEL_NONE,
    EP_LABEL_RANK, /* RANK:  */
    EP_LABEL_HOST, /* HOST:  */
    EP_LABEL_FULL, /* [NSPACE,RANK]<stdout>:  */
    EP_LABEL_MODES
};

enum ep_format_kind {
    EP_FORMAT_TEXT,
    EP_FORMAT_JSON, /* an object for each line */
    EP_FORMAT_XML,  /* an element for each line, as PMIx has them */
    EP_FORMATS
};

enum {
    EP_CHANNEL_STDOUT = 1,
    EP_CHANNEL_STDERR = 2,
    EP_CHANNEL_STDDIAG = 3, /* diagnostics, where a job has it */
    EP_CHANNELS
};

/* "?" for one that is none. */
static inline const char *ep_channel_name(uint8_t channel)
{
    static const char *const names[EP_CHANNELS] = {"?", "stdout", "stderr",
                                                   "stddiag"};

    return names[channel < EP_CHANNELS ? channel : 0];
}

/* The rank of what is no process's, but a tool's: "tool: ", "[job,tool]". */
#define EP_CONSOLE_TOOL (UINT32_MAX - 1)

/* A property of a job. Zeroed: bytes as they come. */
struct ep_style {
    const char *nspace; /* borrowed: the job's name */
    enum ep_label_mode label;
    enum ep_format_kind format;
    bool has_time; /* the time of arrival stands first */
};

/* Where bytes come from. */
struct ep_origin {
    const struct ep_style *style; /* borrowed, as all that follows */
    const char *host;
    const char *ranks; /* of several processes, as "0-7,9"; NULL: of one */
    uint64_t time_ns;  /* of arrival, since 1970; for has_time */
    uint32_t rank;     /* in its job */
    uint8_t channel;
};

/* Whether nothing is added to the bytes, so that they can go as they are. */
static inline bool ep_style_is_plain(const struct ep_style *style)
{
    return style->format == EP_FORMAT_TEXT && !style->has_time &&
           style->label == EP_LABEL_NONE;
}

#endif
