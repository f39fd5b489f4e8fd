/* The daemon's side of the start-up text: one line at a time, in pieces of
 * any size, every limit kept before memory is taken. */
#include "config.h"

#include "endpoints/boot/boot.h"

#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "overlay/base/err.h"
#include "topo/hosts.h"

enum state { WANT_VERSION, WANT_CONFIG, WANT_PEERS };

/* A kind of line between the first and `go`. The reader takes the fields; a
 * return other than 0 or a bad field fails the line. */
struct keyword {
    const char *name;
    const char *usage;
    int (*read)(struct ep_boot_reader *rd, struct text_fields *fields);
    bool may_repeat;
    bool is_needed;
};

static int read_session(struct ep_boot_reader *rd, struct text_fields *fields)
{
    uint8_t session[8];

    text_fields_hex(fields, session, sizeof(session));
    for (unsigned i = 0; i < sizeof(session); i++)
        rd->config.auth.session = rd->config.auth.session << 8 | session[i];
    return 0;
}

static int read_key(struct ep_boot_reader *rd, struct text_fields *fields)
{
    text_fields_hex(fields, rd->config.auth.key, sizeof(rd->config.auth.key));
    return 0;
}

static int read_tree(struct ep_boot_reader *rd, struct text_fields *fields)
{
    struct topo_tree *tree = &rd->config.tree;

    tree->nodes = (uint32_t)text_fields_number(fields, 1, TOPO_NONE - 1);
    tree->arity = (uint32_t)text_fields_number(fields, 1, TOPO_ARITY_MAX);
    rd->nodes = tree->nodes;
    return 0;
}

static int read_children(struct ep_boot_reader *rd, struct text_fields *fields)
{
    uint32_t each = (uint32_t)text_fields_number(fields, 0, TOPO_ARITY_MAX);
    uint32_t nodes = (uint32_t)text_fields_number(fields, 1, TOPO_NONE - 1);

    return fields->bad ? OV_EPROTO
                       : ep_boot_add_children(&rd->config, each, nodes);
}

static int read_launcher(struct ep_boot_reader *rd, struct text_fields *fields)
{
    const char *name = text_fields_next(fields);

    for (unsigned i = 0; i < EP_LAUNCHERS; i++) {
        if (strcmp(name, ep_boot_launcher_name((enum ep_launcher)i)) == 0) {
            rd->config.launcher = (enum ep_launcher)i;
            return 0;
        }
    }
    return OV_EPROTO;
}

static int read_hosted(struct ep_boot_reader *rd, struct text_fields *fields)
{
    struct topo_range range;

    range.first = (uint32_t)text_fields_number(fields, 0, TOPO_NONE - 1);
    range.last = (uint32_t)text_fields_number(fields, 0, TOPO_NONE - 1);
    return fields->bad ? OV_EPROTO : ep_boot_add_hosted(&rd->config, range);
}

static int read_virtual(struct ep_boot_reader *rd, struct text_fields *fields)
{
    (void)fields;
    rd->config.is_virtual = true;
    return 0;
}

static int read_no_tree_spawn(struct ep_boot_reader *rd,
                              struct text_fields *fields)
{
    (void)fields;
    rd->config.no_tree_spawn = true;
    return 0;
}

static int read_verbose(struct ep_boot_reader *rd, struct text_fields *fields)
{
    (void)fields;
    rd->config.verbose = true;
    return 0;
}

static int read_string(struct text_fields *fields, char **slot)
{
    const char *value = text_fields_next(fields);

    return fields->bad ? OV_EPROTO : ep_boot_set(slot, value);
}

static int read_provider(struct ep_boot_reader *rd, struct text_fields *fields)
{
    return read_string(fields, &rd->config.provider);
}

static int read_interface(struct ep_boot_reader *rd, struct text_fields *fields)
{
    return read_string(fields, &rd->config.interface);
}

static int read_rsh(struct ep_boot_reader *rd, struct text_fields *fields)
{
    return read_string(fields, &rd->config.rsh);
}

static int read_xylemd(struct ep_boot_reader *rd, struct text_fields *fields)
{
    return read_string(fields, &rd->config.xylemd);
}

static int read_env(struct ep_boot_reader *rd, struct text_fields *fields)
{
    const char *entry = text_fields_next(fields);

    return fields->bad ? OV_EPROTO : ep_boot_add_env(&rd->config, entry);
}

static int read_ports(struct ep_boot_reader *rd, struct text_fields *fields)
{
    uint64_t first = text_fields_number(fields, 1, UINT16_MAX);

    rd->config.port_first = (uint16_t)first;
    rd->config.port_last =
        (uint16_t)text_fields_number(fields, first, UINT16_MAX);
    return 0;
}

static int read_param(struct ep_boot_reader *rd, struct text_fields *fields)
{
    const char *name = text_fields_next(fields);
    uint64_t value = text_fields_number(fields, 0, UINT64_MAX);
    char *config = (char *)&rd->config;

    if (fields->bad)
        return OV_EPROTO;
    for (const struct ep_boot_number *n = ep_boot_numbers; n->name; n++) {
        uint32_t old, number = (uint32_t)value;

        if (strcmp(n->name, name) != 0)
            continue;
        memcpy(&old, config + n->offset, sizeof(old));
        if (old != 0 || value == 0 || value > UINT32_MAX)
            return OV_EPROTO;
        memcpy(config + n->offset, &number, sizeof(number));
        return 0;
    }
    return ep_boot_add_param(&rd->config, name, value);
}

static int read_host(struct ep_boot_reader *rd, struct text_fields *fields)
{
    uint32_t node = (uint32_t)text_fields_number(fields, 0, TOPO_NONE - 1);
    const char *name = text_fields_next(fields);

    return fields->bad ? OV_EPROTO : ep_boot_add_host(&rd->config, node, name);
}

/* Of nodes 1, 2, ... in short. */
static int read_hosts(struct ep_boot_reader *rd, struct text_fields *fields)
{
    const char *text = text_fields_next(fields);
    struct topo_hosts hosts;
    int rc;

    if (fields->bad)
        return OV_EPROTO;
    topo_hosts_init(&hosts);
    rc = topo_hosts_parse(&hosts, text, NULL);
    for (uint32_t i = 0; rc == 0 && i < hosts.count; i++)
        rc = ep_boot_add_host(&rd->config, i + 1, topo_hosts_name(&hosts, i));
    topo_hosts_fini(&hosts);
    return rc == 0 || rc == OV_ENOMEM ? rc : OV_EPROTO;
}

static int read_home(struct ep_boot_reader *rd, struct text_fields *fields)
{
    return read_string(fields, &rd->config.home);
}

static int read_gate(struct ep_boot_reader *rd, struct text_fields *fields)
{
    const char *address = text_fields_next(fields);

    return fields->bad ? OV_EPROTO : ep_boot_add_gate(&rd->config, address);
}

// clang-format off
static const struct keyword keywords[] = {
    {"session",       "session HEX16",       read_session,       false, true},
    {"key",           "key HEX64",           read_key,           false, true},
    {"tree",          "tree NODES ARITY",    read_tree,          false, true},
    {"children",      "children EACH NODES, within the tree",
                                             read_children,      true,  false},
    {"launcher",      "launcher local|ssh|slurm",
                                             read_launcher,      false, true},
    {"hosted",        "hosted FIRST LAST, ascending, within the tree",
                                             read_hosted,        true,  false},
    {"virtual",       "virtual",             read_virtual,       false, false},
    {"no-tree-spawn", "no-tree-spawn",       read_no_tree_spawn, false, false},
    {"verbose",       "verbose",             read_verbose,       false, false},
    {"provider",      "provider NAME",       read_provider,      false, false},
    {"interface",     "interface NAME",      read_interface,     false, false},
    {"ports",         "ports FIRST LAST",    read_ports,         false, false},
    {"rsh",           "rsh COMMAND",         read_rsh,           false, false},
    {"xylemd",        "xylemd PATH",         read_xylemd,        false, false},
    {"home",          "home PLACE.CGROUP",   read_home,          false, false},
    {"env",           "env NAME=VALUE, of the fabric",
                                             read_env,           true,  false},
    {"param",         "param NAME VALUE, each name once, not too many",
                                             read_param,         true,  false},
    {"host",          "host NODE NAME, ascending, within the tree",
                                             read_host,          true,  false},
    {"hosts",         "hosts LIST, of nodes from 1, within the tree",
                                             read_hosts,         false, false},
    {"gate",          "gate ADDRESS",        read_gate,          true,  false},
};
// clang-format on

enum { KEYWORDS = sizeof(keywords) / sizeof(keywords[0]) };
_Static_assert((int)KEYWORDS <= 32, "seen has a bit for each keyword");

void ep_boot_reader_init(struct ep_boot_reader *rd,
                         const struct ep_boot_down_events *events, void *arg,
                         const char *self)
{
    *rd = (struct ep_boot_reader){
        .events = events, .arg = arg, .self = self, .state = WANT_VERSION};
}

void ep_boot_reader_fini(struct ep_boot_reader *rd)
{
    ep_boot_config_fini(&rd->config);
    text_buf_fini(&rd->line);
}

static int fail(struct ep_boot_reader *rd, int rc)
{
    if (rc == OV_ENOMEM)
        snprintf(rd->why, sizeof(rd->why), "no memory for the start-up text");
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

/* Of many that were started alike. */
static int find_place(struct ep_boot_reader *rd)
{
    const char *host = rd->host != NULL ? rd->host : "";
    int rc = ep_boot_host_here(&rd->config, host);

    if (rc == OV_ENOENT) {
        snprintf(rd->why, sizeof(rd->why),
                 "this host is \"%.255s\", and none of the job's hosts is "
                 "called so",
                 host);
        return OV_EPROTO;
    }
    return rc;
}

static int on_go(struct ep_boot_reader *rd)
{
    int rc;

    for (unsigned i = 0; i < KEYWORDS; i++) {
        if (keywords[i].is_needed && !(rd->seen & 1u << i)) {
            snprintf(rd->why, sizeof(rd->why),
                     "the start-up text is not complete: no \"%s\" line",
                     keywords[i].name);
            return OV_EPROTO;
        }
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
    rd->events->on_go(rd->arg, &rd->config);
    return 0;
}

static int on_config(struct ep_boot_reader *rd, struct text_fields *fields)
{
    const char *name = text_fields_next(fields);
    unsigned i = 0;
    int rc;

    if (strcmp(name, "go") == 0 && text_fields_done(fields))
        return on_go(rd);
    while (i < KEYWORDS && strcmp(keywords[i].name, name) != 0)
        i++;
    if (i == KEYWORDS) {
        snprintf(rd->why, sizeof(rd->why),
                 "line %llu of the start-up text is not known: \"%.64s\"",
                 (unsigned long long)rd->lines, name);
        return OV_EPROTO;
    }
    if ((rd->seen & 1u << i) && !keywords[i].may_repeat) {
        snprintf(rd->why, sizeof(rd->why),
                 "line %llu of the start-up text: \"%s\" comes twice",
                 (unsigned long long)rd->lines, name);
        return OV_EPROTO;
    }
    rd->seen |= 1u << i;
    rc = keywords[i].read(rd, fields);
    if (rc == OV_ENOMEM || (rc == 0 && text_fields_done(fields)))
        return rc;
    /* Not the line itself: it may hold the key. */
    snprintf(rd->why, sizeof(rd->why),
             "line %llu of the start-up text is not well-formed: expected "
             "\"%s\"",
             (unsigned long long)rd->lines, keywords[i].usage);
    return OV_EPROTO;
}

static int on_peer(struct ep_boot_reader *rd, struct text_fields *fields)
{
    struct ep_boot_peer peer;
    const char *name = text_fields_next(fields);

    if (strcmp(name, "peer") == 0) {
        ep_boot_peer_read(fields, &peer);
        if (text_fields_done(fields) && peer.node < rd->nodes) {
            rd->events->on_peer(rd->arg, &peer);
            return 0;
        }
    }
    snprintf(rd->why, sizeof(rd->why),
             "line %llu from the starter is not well-formed: expected \"peer "
             "NODE ADDRESS NONCE\", within the tree",
             (unsigned long long)rd->lines);
    return OV_EPROTO;
}

/* rd->line holds one line without its newline. */
static int on_line(struct ep_boot_reader *rd)
{
    struct text_fields fields;
    int rc = OV_EPROTO;

    text_buf_add(&rd->line, "", 0); /* an empty line has its NUL, too */
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

/* Takes bytes up to and with a newline, or all there are. */
static int take(struct ep_boot_reader *rd, const char *mem, size_t len_bytes,
                bool ends_line)
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

        rc = take(rd, mem, piece, newline != NULL);
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
                 : "the starter went away before the start-up text was "
                   "complete");
    return fail(rd, OV_ECLOSED);
}
