/* The start-up text: writing it, and reading what comes up. The reader of
 * what comes down is boot_reader.c; the lines are listed in boot.h. */
#include "config.h"

#include "endpoints/boot/boot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/boot/launcher.h"
#include "overlay/base/err.h"
#include "topo/hosts.h"

static const char *const up_keywords[EP_BOOT_UP_KINDS] = {
    [EP_BOOT_READY] = "xylemd-ready", [EP_BOOT_ERROR] = "xylemd-error",
    [EP_BOOT_NOTE] = "xylemd-note",   [EP_BOOT_PEER] = "xylemd-peer",
    [EP_BOOT_START] = "xylemd-start",
};

const char *ep_boot_version(void)
{
    return PACKAGE_VERSION;
}

const char *ep_boot_launcher_name(enum ep_launcher launcher)
{
    return ep_launcher_ops(launcher)->name;
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

static void put_line(struct text_buf *out, const char *keyword,
                     const char *field)
{
    text_buf_puts(out, keyword);
    if (field != NULL)
        text_buf_field(out, field);
    text_buf_puts(out, "\n");
}

static void put_numbers(struct text_buf *out, const char *keyword,
                        uint64_t first, uint64_t second)
{
    text_buf_puts(out, keyword);
    text_buf_number(out, first);
    text_buf_number(out, second);
    text_buf_puts(out, "\n");
}

static void put_param(struct text_buf *out, const char *name, uint64_t value)
{
    text_buf_puts(out, "param");
    text_buf_field(out, name);
    text_buf_number(out, value);
    text_buf_puts(out, "\n");
}

static void put_session(struct text_buf *out, const struct ep_auth *auth)
{
    uint8_t session[8];

    for (unsigned i = 0; i < sizeof(session); i++)
        session[i] = (uint8_t)(auth->session >> (8 * (7 - i)));
    text_buf_puts(out, "session");
    text_buf_hex(out, session, sizeof(session));
    text_buf_puts(out, "\nkey");
    text_buf_hex(out, auth->key, sizeof(auth->key));
    text_buf_puts(out, "\n");
}

static void put_params(struct text_buf *out,
                       const struct ep_boot_config *config)
{
    for (const struct ep_boot_number *n = ep_boot_numbers; n->name; n++) {
        uint32_t value;

        memcpy(&value, (const char *)config + n->offset, sizeof(value));
        if (value != 0)
            put_param(out, n->name, value);
    }
    for (uint32_t i = 0; i < config->params_count; i++)
        put_param(out, config->params[i].name, config->params[i].value);
}

static void put_options(struct text_buf *out,
                        const struct ep_boot_config *config)
{
    if (config->is_virtual)
        put_line(out, "virtual", NULL);
    if (config->no_tree_spawn)
        put_line(out, "no-tree-spawn", NULL);
    if (config->verbose)
        put_line(out, "verbose", NULL);
    if (config->provider != NULL)
        put_line(out, "provider", config->provider);
    if (config->interface != NULL)
        put_line(out, "interface", config->interface);
    if (config->port_first != 0)
        put_numbers(out, "ports", config->port_first, config->port_last);
    if (config->rsh != NULL)
        put_line(out, "rsh", config->rsh);
    if (config->xylemd != NULL)
        put_line(out, "xylemd", config->xylemd);
    if (config->home != NULL)
        put_line(out, "home", config->home);
    for (uint32_t i = 0; i < config->env_count; i++)
        put_line(out, "env", config->env[i]);
}

/* Of a table how many children each node has, in runs: numbers go level by
 * level, so this says all. Behind the last one there are leaves. */
static void put_children(struct text_buf *out, const struct topo_tree *tree)
{
    uint32_t run = 0, each = 0;

    if (tree->parents == NULL)
        return;
    for (uint32_t node = 0; node <= tree->parents[tree->nodes - 1]; node++) {
        struct topo_range kids = topo_tree_children(tree, node);
        uint32_t count =
            kids.first > kids.last ? 0 : kids.last - kids.first + 1;

        if (run > 0 && count != each) {
            put_numbers(out, "children", each, run);
            run = 0;
        }
        each = count;
        run++;
    }
    put_numbers(out, "children", each, run);
}

static void put_hosts(struct text_buf *out, const struct ep_boot_config *config)
{
    for (uint32_t i = 0; i < config->hosts_count; i++) {
        text_buf_puts(out, "host");
        text_buf_number(out, config->hosts[i].node);
        text_buf_field(out, config->hosts[i].name);
        text_buf_puts(out, "\n");
    }
}

/* All hosts in short, in the order of their nodes, from 1: a daemon that
 * reads this finds its own place. */
static void put_all_hosts(struct text_buf *out,
                          const struct ep_boot_config *config)
{
    struct topo_hosts hosts;
    char *fold = NULL;
    int rc = 0;

    topo_hosts_init(&hosts);
    for (uint32_t i = 0; rc == 0 && i < config->hosts_count; i++)
        rc = topo_hosts_add(&hosts, config->hosts[i].name,
                            strlen(config->hosts[i].name), 0);
    if (rc == 0)
        fold = topo_hosts_fold(&hosts, hosts.count);
    if (fold == NULL)
        out->bad = true;
    else
        put_line(out, "hosts", fold);
    free(fold);
    topo_hosts_fini(&hosts);
    for (uint32_t i = 0; i < config->gates_count; i++)
        put_line(out, "gate", config->gates[i]);
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

/* Takes back what was added to out after `start`. */
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
    put_line(out, "xylem-boot", ep_boot_version());
    put_session(out, &config->auth);
    put_numbers(out, "tree", config->tree.nodes, config->tree.arity);
    put_children(out, &config->tree);
    put_line(out, "launcher", ep_boot_launcher_name(config->launcher));
    for (uint32_t i = 0; i < config->hosted_count; i++)
        put_numbers(out, "hosted", config->hosted[i].first,
                    config->hosted[i].last);
    put_options(out, config);
    put_params(out, config);
    if (config->launcher == EP_LAUNCHER_SLURM)
        put_all_hosts(out, config);
    else
        put_hosts(out, config);
    put_line(out, "go", NULL);
    if (out->bad) {
        snprintf(why, EP_BOOT_WHY_MAX, "no memory for the start-up text");
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

static void put_peer(struct text_buf *out, const struct ep_boot_peer *peer)
{
    text_buf_number(out, peer->node);
    text_buf_field(out, peer->address);
    text_buf_hex(out, peer->nonce, sizeof(peer->nonce));
    text_buf_puts(out, "\n");
}

void ep_boot_peer_encode(const struct ep_boot_peer *peer, struct text_buf *out)
{
    text_buf_puts(out, "peer");
    put_peer(out, peer);
}

static void put_up(struct text_buf *out, enum ep_boot_up_kind kind)
{
    text_buf_puts(out, "\n");
    text_buf_puts(out, up_keywords[kind]);
}

static void put_words(struct text_buf *out, const char *words)
{
    char cut[EP_BOOT_TEXT_MAX];

    snprintf(cut, sizeof(cut), "%s", words);
    text_buf_field(out, cut);
    text_buf_puts(out, "\n");
}

void ep_boot_ready_encode(const struct ep_boot_peer *self, struct text_buf *out)
{
    put_up(out, EP_BOOT_READY);
    text_buf_field(out, ep_boot_version());
    put_peer(out, self);
}

void ep_boot_error_encode(const char *words, struct text_buf *out)
{
    put_up(out, EP_BOOT_ERROR);
    put_words(out, words);
}

void ep_boot_note_encode(uint32_t node, const char *words, struct text_buf *out)
{
    put_up(out, EP_BOOT_NOTE);
    text_buf_number(out, node);
    put_words(out, words);
}

void ep_boot_beneath_encode(const struct ep_boot_peer *peer,
                            struct text_buf *out)
{
    put_up(out, EP_BOOT_PEER);
    put_peer(out, peer);
}

void ep_boot_start_encode(uint32_t node, uint32_t time_ms, const char *words,
                          struct text_buf *out)
{
    put_up(out, EP_BOOT_START);
    text_buf_number(out, node);
    text_buf_number(out, time_ms);
    put_words(out, words);
}

void ep_boot_peer_read(struct text_fields *fields, struct ep_boot_peer *peer)
{
    const char *address;

    peer->node = (uint32_t)text_fields_number(fields, 0, TOPO_NONE - 1);
    address = text_fields_next(fields);
    if (*address == '\0' || strlen(address) >= sizeof(peer->address))
        fields->bad = true;
    snprintf(peer->address, sizeof(peer->address), "%s", address);
    text_fields_hex(fields, peer->nonce, sizeof(peer->nonce));
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

static void ready_read(struct text_fields *fields, struct ep_boot_up *up)
{
    ep_boot_version_read(fields, up->version);
    if (fields->bad)
        return;
    if (strcmp(up->version, ep_boot_version()) == 0)
        ep_boot_peer_read(fields, &up->peer);
    else
        fields->at = NULL; /* another version may have other fields */
}

/* The kind of line by its keyword, or EP_BOOT_UP_KINDS. */
static enum ep_boot_up_kind up_kind(const char *line, size_t len_bytes)
{
    const char *space = memchr(line, ' ', len_bytes);
    size_t word = space == NULL ? len_bytes : (size_t)(space - line);
    unsigned kind = 0;

    while (kind < EP_BOOT_UP_KINDS && (strlen(up_keywords[kind]) != word ||
                                       memcmp(up_keywords[kind], line, word)))
        kind++;
    return (enum ep_boot_up_kind)kind;
}

int ep_boot_up_decode(char *line, size_t len_bytes, struct ep_boot_up *up)
{
    struct text_fields fields;

    up->kind = up_kind(line, len_bytes);
    if (up->kind == EP_BOOT_UP_KINDS)
        return OV_ENOENT;
    up->version[0] = up->text[0] = '\0';
    up->peer = (struct ep_boot_peer){0};
    up->time_ms = 0;
    fields = text_fields_init(line, len_bytes);
    text_fields_next(&fields);
    switch (up->kind) {
    case EP_BOOT_READY:
        ready_read(&fields, up);
        break;
    case EP_BOOT_PEER:
        ep_boot_peer_read(&fields, &up->peer);
        break;
    case EP_BOOT_START:
    case EP_BOOT_NOTE:
        up->peer.node = (uint32_t)text_fields_number(&fields, 0, TOPO_NONE - 1);
        if (up->kind == EP_BOOT_START)
            up->time_ms = (uint32_t)text_fields_number(&fields, 1, UINT32_MAX);
        snprintf(up->text, sizeof(up->text), "%s", text_fields_next(&fields));
        break;
    case EP_BOOT_ERROR:
        snprintf(up->text, sizeof(up->text), "%s", text_fields_next(&fields));
        break;
    case EP_BOOT_UP_KINDS:
        break;
    }
    return text_fields_done(&fields) ? 0 : OV_EPROTO;
}
