/* The daemon's side of the start-up text. It reads one line at a time, from
 * pieces of any size, and checks each limit before it takes memory. */
#include "config.h"

#include "endpoints/boot/boot.h"

#include <stdio.h>
#include <string.h>

#include "endpoints/boot/boot_lines.h"
#include "overlay/base/err.h"

enum state { WANT_VERSION, WANT_CONFIG, WANT_PEERS };

void ep_boot_reader_init(struct ep_boot_reader *rd,
                         const struct ep_boot_down_events *events, void *arg,
                         const char *self)
{
    *rd = (struct ep_boot_reader){
        .events = events, .arg = arg, .self = self, .state = WANT_VERSION};
    rd->text = (struct job_lines){.lines = ep_boot_lines, .what = &rd->config};
}

void ep_boot_reader_fini(struct ep_boot_reader *rd)
{
    ep_boot_config_fini(&rd->config);
    text_buf_fini(&rd->line);
}

static int fail(struct ep_boot_reader *rd, int rc)
{
    if (rc == OV_ENOMEM)
        snprintf(rd->why, sizeof(rd->why),
                 "out of memory for the start-up text");
    rd->failed = rc;
    return rc;
}

static int on_version(struct ep_boot_reader *rd, struct text_fields *fields)
{
    char version[EP_BOOT_VERSION_MAX];

    if (strcmp(text_fields_next(fields), "xylem-boot") != 0) {
        snprintf(rd->why, sizeof(rd->why),
                 "stdin does not begin with \"xylem-boot\": xylemd is started "
                 "by xylem, not by hand");
        return OV_EPROTO;
    }
    ep_boot_version_read(fields, version);
    if (fields->bad) {
        snprintf(rd->why, sizeof(rd->why),
                 "the start-up text names no version");
        return OV_EPROTO;
    }
    if (strcmp(version, ep_boot_version()) != 0) {
        ep_boot_version_words(rd->self, NULL, ep_boot_version(), version,
                              rd->why);
        return OV_EPROTO;
    }
    rd->state = WANT_CONFIG;
    return 0;
}

/* Finds which node this daemon has, among many daemons that were started
 * alike. */
static int find_place(struct ep_boot_reader *rd)
{
    const char *host = rd->host != NULL ? rd->host : "";
    int rc = ep_boot_host_here(&rd->config, host);

    if (rc == OV_ENOENT) {
        snprintf(
            rd->why, sizeof(rd->why),
            "this host is called \"%.255s\", which is none of the job's hosts",
            host);
        return OV_EPROTO;
    }
    return rc;
}

static int on_go(struct ep_boot_reader *rd)
{
    const struct job_line *missing = job_lines_missing(&rd->text);
    int rc;

    if (missing != NULL) {
        snprintf(rd->why, sizeof(rd->why),
                 "the start-up text is not complete: no \"%.*s\" line",
                 (int)strcspn(missing->usage, " "), missing->usage);
        return OV_EPROTO;
    }
    if (ep_boot_end_children(&rd->config) != 0) {
        snprintf(rd->why, sizeof(rd->why),
                 "the \"children\" lines of the start-up text make no tree of "
                 "so many nodes");
        return OV_EPROTO;
    }
    if (ep_boot_config_check(&rd->config, rd->why) != 0)
        return OV_EPROTO;
    if (rd->config.hosted_count == 0) {
        rc = find_place(rd);
        if (rc != 0)
            return rc;
    }
    rd->state = WANT_PEERS;
    rd->nodes = rd->config.tree.nodes;
    rd->events->on_go(rd->arg, &rd->config);
    return 0;
}

static int on_config(struct ep_boot_reader *rd, struct text_fields *fields)
{
    const char *name = text_fields_next(fields);
    int rc;

    if (strcmp(name, "go") == 0 && text_fields_done(fields))
        return on_go(rd);
    rc = job_lines_decode(&rd->text, name, fields);
    if (rc == 0 || rc == OV_ENOMEM)
        return rc;
    if (rc == OV_ENOENT)
        snprintf(rd->why, sizeof(rd->why),
                 "line %llu of the start-up text is not known: \"%.64s\"",
                 (unsigned long long)rd->lines, name);
    else if (rc == OV_EFULL)
        snprintf(rd->why, sizeof(rd->why),
                 "line %llu of the start-up text: \"%s\" comes twice",
                 (unsigned long long)rd->lines, name);
    else /* does not quote the line, which may hold the key */
        snprintf(rd->why, sizeof(rd->why),
                 "line %llu of the start-up text is not well-formed: expected "
                 "\"%s\"",
                 (unsigned long long)rd->lines, rd->text.line->usage);
    return OV_EPROTO;
}

static int on_peer(struct ep_boot_reader *rd, struct text_fields *fields)
{
    struct ep_boot_peer peer;
    struct job_lines text = {.lines = ep_boot_peer_lines, .what = &peer};

    if (job_lines_decode(&text, text_fields_next(fields), fields) == 0 &&
        peer.node < rd->nodes) {
        rd->events->on_peer(rd->arg, &peer);
        return 0;
    }
    snprintf(rd->why, sizeof(rd->why),
             "line %llu from the starter is not well-formed: expected \"peer "
             "NODE ADDRESS NONCE\", within the tree",
             (unsigned long long)rd->lines);
    return OV_EPROTO;
}

/* Handles the line in rd->line, which has no newline. */
static int on_line(struct ep_boot_reader *rd)
{
    struct text_fields fields;
    int rc = OV_EPROTO;

    /* makes sure that an empty line has its NUL, too */
    text_buf_add(&rd->line, "", 0);
    if (rd->line.bad)
        return OV_ENOMEM;
    rd->lines++;
    fields = text_fields_init(rd->line.at, rd->line.len_bytes);
    switch ((enum state)rd->state) {
    case WANT_VERSION:
        rc = on_version(rd, &fields);
        break;
    case WANT_CONFIG:
        rc = on_config(rd, &fields);
        break;
    case WANT_PEERS:
        rc = on_peer(rd, &fields);
        break;
    }
    text_buf_clear(&rd->line);
    return rc;
}

static int too_big(struct ep_boot_reader *rd, const char *what, int max)
{
    snprintf(rd->why, sizeof(rd->why),
             "the start-up text has %s of more than %d MiB", what, max >> 20);
    return OV_EPROTO;
}

/* Adds bytes to the line; with ends_line the last of them is a newline, and the
 * line is handled. */
static int take_bytes(struct ep_boot_reader *rd, const char *mem,
                      size_t len_bytes, bool ends_line)
{
    if (rd->state != WANT_PEERS)
        rd->total_bytes += len_bytes;
    if (rd->line.len_bytes + len_bytes > EP_BOOT_LINE_MAX)
        return too_big(rd, "a line", EP_BOOT_LINE_MAX);
    if (rd->total_bytes > EP_BOOT_TOTAL_MAX)
        return too_big(rd, "a total", EP_BOOT_TOTAL_MAX);
    text_buf_add(&rd->line, mem, len_bytes - ends_line);
    if (rd->line.bad)
        return OV_ENOMEM;
    return ends_line ? on_line(rd) : 0;
}

int ep_boot_reader_feed(struct ep_boot_reader *rd, const char *mem,
                        size_t len_bytes)
{
    int rc = rd->failed;

    while (rc == 0 && len_bytes > 0) {
        const char *newline = memchr(mem, '\n', len_bytes);
        size_t piece =
            newline == NULL ? len_bytes : (size_t)(newline - mem) + 1;

        rc = take_bytes(rd, mem, piece, newline != NULL);
        if (rc != 0)
            return fail(rd, rc);
        mem += piece;
        len_bytes -= piece;
    }
    return rc;
}

int ep_boot_reader_end(struct ep_boot_reader *rd)
{
    if (rd->failed != 0)
        return rd->failed;
    if (rd->state == WANT_PEERS)
        return 0;
    snprintf(rd->why, sizeof(rd->why), "%s",
             rd->total_bytes == 0
                 ? "nothing came on stdin: xylemd is started by xylem, not by "
                   "hand"
                 : "whoever started xylemd ended before the start-up text was "
                   "complete");
    return fail(rd, OV_ECLOSED);
}
