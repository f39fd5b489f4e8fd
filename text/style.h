/* How output is shown, and where it comes from. */
#ifndef TEXT_STYLE_H
#define TEXT_STYLE_H

#include <stdbool.h>
#include <stdint.h>

enum text_label_mode {
    TEXT_LABEL_NONE,
    TEXT_LABEL_RANK, /* "RANK: " */
    TEXT_LABEL_HOST, /* "HOST: " */
    TEXT_LABEL_FULL, /* "[NSPACE,RANK]<stdout>: " */
    TEXT_LABEL_FOLD, /* "[RANKS] ": all ranks that said the line (folded.h) */
    TEXT_LABEL_MODES
};

/* The formats: lines as they are, a JSON object for each line, and an XML
 * element for each line as in PMIx. The second argument ends the name of the
 * format's row, text_row_... (row.h). */
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
    TEXT_CHANNEL_STDDIAG = 3, /* diagnostics, for jobs that use it */
    TEXT_CHANNELS
};

/* The name of a channel; "?" for other numbers. */
static inline const char *text_channel_name(uint8_t channel)
{
    static const char *const names[TEXT_CHANNELS] = {"?", "stdout", "stderr",
                                                     "stddiag"};

    return names[channel < TEXT_CHANNELS ? channel : 0];
}

/* Stands for the rank of output that a tool wrote, not a process. It is shown
 * as "tool: " or "[job,tool]". */
#define TEXT_CONSOLE_TOOL (UINT32_MAX - 1)

/* How the output of a job is shown. All zero: the bytes are not changed. */
struct text_style {
    const char *nspace; /* borrowed: the job's name */
    enum text_label_mode label;
    enum text_format_kind format;
    bool has_time; /* each line begins with its time of arrival */
    /* The least width of labels in the format text, so that all lines begin in
     * the same column: a rank gets zeros before it, the name of a host blanks
     * behind it. */
    uint8_t rank_digits;
    uint8_t host_bytes;
};

/* Returns how many digits the largest of this many ranks has. */
uint8_t text_style_digits(uint32_t ranks);
/* Makes host labels at least as wide as this name. */
void text_style_widen(struct text_style *style, const char *host);

/* Where bytes of output come from. */
struct text_origin {
    const struct text_style *style; /* borrowed, as are the following
                                       pointers */
    const char *host;
    const char *ranks; /* "0-7,9" when several processes wrote the same line,
                          else NULL */
    uint64_t time_ns;  /* time of arrival, since 1970; used with has_time */
    uint32_t rank;     /* the rank of the process in its job */
    uint8_t channel;
};

/* True when nothing is added to the bytes, so that they can be passed on as
 * they are. */
static inline bool text_style_is_plain(const struct text_style *style)
{
    return style->format == TEXT_FORMAT_TEXT && !style->has_time &&
           style->label == TEXT_LABEL_NONE;
}

#endif
