/* How output is shown, and whose it is. */
#ifndef TEXT_STYLE_H
#define TEXT_STYLE_H

#include <stdbool.h>
#include <stdint.h>

enum text_label_mode {
    TEXT_LABEL_NONE,
    TEXT_LABEL_RANK, /* RANK:  */
    TEXT_LABEL_HOST, /* HOST:  */
    TEXT_LABEL_FULL, /* [NSPACE,RANK]<stdout>:  */
    TEXT_LABEL_MODES
};

/* The formats, each with the end of the name of its row (row.h): lines as they
 * are, an object for each line, an element for each line as PMIx has them. */
#define TEXT_FORMAT_MAP(X)                                                     \
    X(TEXT, text)                                                              \
    X(JSON, json)                                                              \
    X(XML, xml)

enum text_format_kind {
#define TEXT_FORMAT_NUMBER(NAME, row) TEXT_FORMAT_##NAME,
    TEXT_FORMAT_MAP(TEXT_FORMAT_NUMBER)
#undef TEXT_FORMAT_NUMBER
        TEXT_FORMATS
};

enum {
    TEXT_CHANNEL_STDOUT = 1,
    TEXT_CHANNEL_STDERR = 2,
    TEXT_CHANNEL_STDDIAG = 3, /* diagnostics, where a job has it */
    TEXT_CHANNELS
};

/* "?" for one that is none. */
static inline const char *text_channel_name(uint8_t channel)
{
    static const char *const names[TEXT_CHANNELS] = {"?", "stdout", "stderr",
                                                     "stddiag"};

    return names[channel < TEXT_CHANNELS ? channel : 0];
}

/* The rank of what is no process's, but a tool's: "tool: ", "[job,tool]". */
#define TEXT_CONSOLE_TOOL (UINT32_MAX - 1)

/* A property of a job. Zeroed: bytes as they come. */
struct text_style {
    const char *nspace; /* borrowed: the job's name */
    enum text_label_mode label;
    enum text_format_kind format;
    bool has_time; /* the time of arrival stands first */
};

/* Where bytes come from. */
struct text_origin {
    const struct text_style *style; /* borrowed, as all that follows */
    const char *host;
    const char *ranks; /* of several processes, as "0-7,9"; NULL: of one */
    uint64_t time_ns;  /* of arrival, since 1970; for has_time */
    uint32_t rank;     /* in its job */
    uint8_t channel;
};

/* Whether nothing is added to the bytes, so that they can go as they are. */
static inline bool text_style_is_plain(const struct text_style *style)
{
    return style->format == TEXT_FORMAT_TEXT && !style->has_time &&
           style->label == TEXT_LABEL_NONE;
}

#endif
