/* The start-up text: writes it, and reads the lines that daemons send up.
 * boot_reader.c reads what is sent down; boot_lines.c has the lines. */
#include "config.h"

#include "endpoints/boot/boot.h"

#include <stdio.h>
#include <string.h>

#include "endpoints/boot/boot_lines.h"
#include "overlay/base/err.h"

const char *ep_boot_version(void)
{
    return PACKAGE_VERSION;
}

void ep_boot_version_words(const char *path, const char *host,
                           const char *daemon, const char *starter,
                           char why[EP_BOOT_WHY_MAX])
{
    snprintf(why, EP_BOOT_WHY_MAX,
             "the daemon %.400s%s%.200s is of version %.60s, but xylem that "
             "starts it is of version %.60s: install the same version "
             "everywhere, or name the right daemon with --xylemd",
             path, host == NULL ? "" : " on ", host == NULL ? "" : host, daemon,
             starter);
}

static size_t longest_line(const char *text, size_t len_bytes)
{
    size_t longest = 0;

    while (len_bytes > 0) {
        const char *end = memchr(text, '\n', len_bytes);
        size_t line = end == NULL ? len_bytes : (size_t)(end - text) + 1;

        if (line > longest)
            longest = line;
        text += line;
        len_bytes -= line;
    }
    return longest;
}

/* Removes everything that was added to `out` after `start`, and returns rc. */
static int give_up(struct text_buf *out, size_t start, int rc)
{
    if (out->len_bytes > start) {
        memset(out->at + start, 0, out->len_bytes - start);
        out->len_bytes = start;
    }
    return rc;
}

int ep_boot_encode(const struct ep_boot_config *config, struct text_buf *out,
                   char *why)
{
    size_t start = out->len_bytes;
    int rc = ep_boot_config_check(config, why);

    if (rc != 0)
        return rc;
    text_buf_printf(out, "xylem-boot %s\n", ep_boot_version());
    job_lines_encode(ep_boot_lines, config, out);
    text_buf_puts(out, "go\n");
    if (out->bad) {
        snprintf(why, EP_BOOT_WHY_MAX, "out of memory for the start-up text");
        return give_up(out, start, OV_ENOMEM);
    }
    if (out->len_bytes - start > EP_BOOT_TOTAL_MAX ||
        longest_line(out->at + start, out->len_bytes - start) >
            EP_BOOT_LINE_MAX) {
        snprintf(why, EP_BOOT_WHY_MAX,
                 "the start-up text is too big: at most %d MiB and %d MiB in "
                 "a line; use shorter host names or options",
                 EP_BOOT_TOTAL_MAX >> 20, EP_BOOT_LINE_MAX >> 20);
        return give_up(out, start, OV_EINVAL);
    }
    return 0;
}

void ep_boot_peer_encode(const struct ep_boot_peer *peer, struct text_buf *out)
{
    job_lines_encode(ep_boot_peer_lines, peer, out);
}

void ep_boot_up_encode(const struct ep_boot_up *up, struct text_buf *out)
{
    text_buf_puts(out, "\n");
    job_line_encode(&ep_boot_up_lines[up->kind], up, out);
}

void ep_boot_version_read(struct text_fields *fields,
                          char version[EP_BOOT_VERSION_MAX])
{
    const char *field = text_fields_next(fields);
    size_t len = strlen(field);

    if (len == 0 || len >= EP_BOOT_VERSION_MAX)
        fields->bad = true;
    for (size_t i = 0; i < len; i++) {
        if (field[i] <= ' ' || field[i] == 0x7f)
            fields->bad = true;
    }
    snprintf(version, EP_BOOT_VERSION_MAX, "%s", fields->bad ? "" : field);
}

/* Returns the kind of a line, which its keyword gives; EP_BOOT_UP_KINDS:
 * none. */
static enum ep_boot_up_kind up_kind(const char *line, size_t len_bytes)
{
    const char *space = memchr(line, ' ', len_bytes);
    size_t word = space == NULL ? len_bytes : (size_t)(space - line);
    unsigned kind = 0;

    while (kind < EP_BOOT_UP_KINDS &&
           !job_line_is(&ep_boot_up_lines[kind], line, word))
        kind++;
    return (enum ep_boot_up_kind)kind;
}

int ep_boot_up_decode(char *line, size_t len_bytes, struct ep_boot_up *up)
{
    const struct job_schema_row *rows;
    struct text_fields fields;

    up->kind = up_kind(line, len_bytes);
    if (up->kind == EP_BOOT_UP_KINDS)
        return OV_ENOENT;
    up->version[0] = up->text[0] = '\0';
    up->peer = (struct ep_boot_peer){0};
    up->time_ms = 0;
    fields = text_fields_init(line, len_bytes);
    text_fields_next(&fields);
    rows = ep_boot_up_lines[up->kind].fields;
    if (up->kind == EP_BOOT_READY) {
        ep_boot_version_read(&fields, up->version);
        if (strcmp(up->version, ep_boot_version()) != 0)
            /* A line of another version may have other fields. */
            return fields.bad ? OV_EPROTO : 0;
        rows++;
    }
    job_line_fields(rows, &fields, up);
    return text_fields_done(&fields) ? 0 : OV_EPROTO;
}
