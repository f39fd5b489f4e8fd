/* The start-up text, as tables of its lines. */
#include "config.h"

#include "endpoints/boot/boot_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/boot/boot.h"
#include "endpoints/boot/launcher.h"
#include "overlay/base/err.h"
#include "topo/hosts.h"

/* --- fields that need code */

static void put_session(const void *what, struct text_buf *out)
{
    const struct ep_boot_config *config = what;

    text_buf_printf(out, "session %016" PRIx64 "\n", config->auth.session);
}

static int get_session(void *what, struct text_fields *fields)
{
    struct ep_boot_config *config = what;
    uint8_t session[8];

    text_fields_hex(fields, session, sizeof(session));
    for (unsigned i = 0; i < sizeof(session); i++)
        config->auth.session = config->auth.session << 8 | session[i];
    return 0;
}

/* For a tree with a table: writes how many children each node has, in runs of
 * equal numbers. Nodes are numbered level by level, so this describes the whole
 * tree. Nodes after the last run are leaves. */
static void put_children(const void *what, struct text_buf *out)
{
    const struct topo_tree *tree = &((const struct ep_boot_config *)what)->tree;
    uint32_t run = 0, each = 0, last;

    if (tree->parents == NULL)
        return;
    last = tree->parents[tree->nodes - 1];
    for (uint32_t node = 0; node <= last; node++) {
        struct topo_range kids = topo_tree_children(tree, node);
        uint32_t count =
            kids.first > kids.last ? 0 : kids.last - kids.first + 1;

        if (run > 0 && count != each) {
            text_buf_printf(out, "children %u %u\n", each, run);
            run = 0;
        }
        each = count;
        run++;
    }
    text_buf_printf(out, "children %u %u\n", each, run);
}

static int get_children(void *what, struct text_fields *fields)
{
    uint32_t each = (uint32_t)text_fields_number(fields, 0, TOPO_ARITY_MAX);
    uint32_t nodes = (uint32_t)text_fields_number(fields, 1, TOPO_NONE - 1);

    return ep_boot_add_children(what, each, nodes);
}

static void put_launcher(const void *what, struct text_buf *out)
{
    const struct ep_boot_config *config = what;

    text_buf_printf(out, "launcher %s\n",
                    ep_launcher_ops(config->launcher)->name);
}

static int get_launcher(void *what, struct text_fields *fields)
{
    struct ep_boot_config *config = what;

    config->launcher = ep_launcher_find(text_fields_next(fields));
    return config->launcher < EP_LAUNCHERS ? 0 : OV_EPROTO;
}

static int get_hosted(void *what, struct text_fields *fields)
{
    struct topo_range range;

    range.first = (uint32_t)text_fields_number(fields, 0, TOPO_NONE - 1);
    range.last = (uint32_t)text_fields_number(fields, 0, TOPO_NONE - 1);
    return ep_boot_add_hosted(what, range);
}

static int get_ports(void *what, struct text_fields *fields)
{
    struct ep_boot_config *config = what;
    uint64_t first = text_fields_number(fields, 1, UINT16_MAX);

    config->port_first = (uint16_t)first;
    config->port_last = (uint16_t)text_fields_number(fields, first, UINT16_MAX);
    return 0;
}

static int get_env(void *what, struct text_fields *fields)
{
    return ep_boot_add_env(what, text_fields_next(fields));
}

static void put_params(const void *what, struct text_buf *out)
{
    const struct ep_boot_config *config = what;

    for (const struct ep_boot_number *n = ep_boot_numbers; n->name; n++) {
        uint64_t value = job_schema_load((const uint8_t *)what + n->offset, 4);

        if (value != 0)
            text_buf_printf(out, "param %s %" PRIu64 "\n", n->name, value);
    }
    for (uint32_t i = 0; i < config->params_count; i++)
        text_buf_printf(out, "param %s %" PRIu64 "\n", config->params[i].name,
                        config->params[i].value);
}

static int get_param(void *what, struct text_fields *fields)
{
    const char *name = text_fields_next(fields);
    uint64_t value = text_fields_number(fields, 0, UINT64_MAX);

    for (const struct ep_boot_number *n = ep_boot_numbers; n->name; n++) {
        uint8_t *at = (uint8_t *)what + n->offset;

        if (strcmp(n->name, name) != 0)
            continue;
        if (job_schema_load(at, 4) != 0 || value == 0 || value > UINT32_MAX)
            return OV_EPROTO;
        job_schema_store(at, value, 4);
        return 0;
    }
    return ep_boot_add_param(what, name, value);
}

static void put_host(const void *what, struct text_buf *out)
{
    const struct ep_boot_config *config = what;

    if (ep_launcher_ops(config->launcher)->is_for_all)
        return; /* a `hosts` line has all of them */
    for (uint32_t i = 0; i < config->hosts_count; i++) {
        text_buf_printf(out, "host %u", config->hosts[i].node);
        text_buf_field(out, config->hosts[i].name);
        text_buf_puts(out, "\n");
    }
}

static int get_host(void *what, struct text_fields *fields)
{
    uint32_t node = (uint32_t)text_fields_number(fields, 0, TOPO_NONE - 1);

    return ep_boot_add_host(what, node, text_fields_next(fields));
}

/* Writes all hosts in short form, in the order of their nodes from 1 on: a
 * daemon that reads this finds out which node it is. */
static void put_hosts(const void *what, struct text_buf *out)
{
    const struct ep_boot_config *config = what;
    struct topo_hosts hosts;
    char *fold = NULL;
    int rc = 0;

    if (!ep_launcher_ops(config->launcher)->is_for_all)
        return;
    topo_hosts_init(&hosts);
    for (uint32_t i = 0; rc == 0 && i < config->hosts_count; i++)
        rc = topo_hosts_add(&hosts, config->hosts[i].name,
                            strlen(config->hosts[i].name), 0);
    if (rc == 0)
        fold = topo_hosts_fold(&hosts, hosts.count);
    if (fold == NULL) {
        out->bad = true;
    } else {
        text_buf_puts(out, "hosts");
        text_buf_field(out, fold);
        text_buf_puts(out, "\n");
    }
    free(fold);
    topo_hosts_fini(&hosts);
}

static int get_hosts(void *what, struct text_fields *fields)
{
    struct topo_hosts hosts;
    int rc;

    topo_hosts_init(&hosts);
    rc = topo_hosts_parse(&hosts, text_fields_next(fields), NULL);
    for (uint32_t i = 0; rc == 0 && i < hosts.count; i++)
        rc = ep_boot_add_host(what, i + 1, topo_hosts_name(&hosts, i));
    topo_hosts_fini(&hosts);
    return rc;
}

static int get_gate(void *what, struct text_fields *fields)
{
    return ep_boot_add_gate(what, text_fields_next(fields));
}

/* --- lines that go down */

#define AT(member)    JOB_LINE_AT(struct ep_boot_config, member)
#define ARRAY(member) JOB_LINE_ARRAY(struct ep_boot_config, member)
#define RANGE(member, least, most)                                             \
    JOB_SCHEMA_RANGE(struct ep_boot_config, member, NULL, least, most)

const struct job_line ep_boot_lines[] = {
    JOB_LINE(OWN, "session HEX16", .is_needed = true, .put = put_session,
             .get = get_session),
    JOB_LINE(FIELDS, "key HEX64", .is_needed = true,
             JOB_LINE_FIELDS(JOB_SCHEMA_HEX(struct ep_boot_config, auth.key))),
    JOB_LINE(FIELDS, "tree NODES ARITY", .is_needed = true,
             JOB_LINE_FIELDS(RANGE(tree.nodes, 1, TOPO_NONE - 1),
                             RANGE(tree.arity, 1, TOPO_ARITY_MAX))),
    JOB_LINE(OWNS, "children EACH NODES, within the tree", .put = put_children,
             .get = get_children),
    JOB_LINE(OWN, "launcher local|ssh|slurm", .is_needed = true,
             .put = put_launcher, .get = get_launcher),
    JOB_LINE(ITEMS, "hosted FIRST LAST, ascending, within the tree",
             ARRAY(hosted),
             JOB_LINE_FIELDS(JOB_SCHEMA_UINT(struct topo_range, first, NULL),
                             JOB_SCHEMA_UINT(struct topo_range, last, NULL)),
             .get = get_hosted),
    JOB_LINE(MARK, "virtual", AT(is_virtual)),
    JOB_LINE(MARK, "no-tree-spawn", AT(no_tree_spawn)),
    JOB_LINE(MARK, "verbose", AT(verbose)),
    JOB_LINE(WORD, "provider NAME", AT(provider)),
    JOB_LINE(WORD, "interface NAME", AT(interface)),
    JOB_LINE(OPTION, "ports FIRST LAST",
             JOB_LINE_FIELDS(RANGE(port_first, 1, UINT16_MAX),
                             RANGE(port_last, 1, UINT16_MAX)),
             .get = get_ports),
    JOB_LINE(WORD, "rsh COMMAND", AT(rsh)),
    JOB_LINE(WORD, "xylemd PATH", AT(xylemd)),
    JOB_LINE(WORD, "home PLACE.CGROUP", AT(home)),
    JOB_LINE(WORDS, "env NAME=VALUE, of the fabric", AT(env), .get = get_env),
    JOB_LINE(OWNS, "param NAME VALUE, each name once, not too many",
             .put = put_params, .get = get_param),
    JOB_LINE(OWNS, "host NODE NAME, ascending, within the tree",
             .put = put_host, .get = get_host),
    JOB_LINE(OWN, "hosts LIST, of nodes from 1, within the tree",
             .put = put_hosts, .get = get_hosts),
    JOB_LINE(WORDS, "gate ADDRESS", AT(gates), .get = get_gate),
    {.kind = JOB_LINE_END},
};

/* --- lines that go up; `at` leads to the peer in the struct */

#define NODE(type, at) JOB_SCHEMA_RANGE(type, at node, NULL, 0, TOPO_NONE - 1)
#define PEER(type, at)                                                         \
    NODE(type, at),                                                            \
        JOB_SCHEMA_TEXT(type, at address, NULL, 1, EP_ADDR_MAX - 1),           \
        JOB_SCHEMA_HEX(type, at nonce)
#define TEXT                                                                   \
    JOB_SCHEMA_TEXT(struct ep_boot_up, text, NULL, 0, EP_BOOT_TEXT_MAX - 1)

const struct job_line ep_boot_peer_lines[] = {
    JOB_LINE(FIELDS, "peer NODE ADDRESS NONCE",
             JOB_LINE_FIELDS(PEER(struct ep_boot_peer, ))),
    {.kind = JOB_LINE_END},
};

const struct job_line ep_boot_up_lines[] = {
    [EP_BOOT_READY] = JOB_LINE(
        FIELDS, "xylemd-ready VERSION NODE ADDRESS NONCE",
        JOB_LINE_FIELDS(JOB_SCHEMA_TEXT(struct ep_boot_up, version, NULL, 1,
                                        EP_BOOT_VERSION_MAX - 1),
                        PEER(struct ep_boot_up, peer.))),
    [EP_BOOT_ERROR] =
        JOB_LINE(FIELDS, "xylemd-error TEXT", JOB_LINE_FIELDS(TEXT)),
    [EP_BOOT_NOTE] =
        JOB_LINE(FIELDS, "xylemd-note NODE TEXT",
                 JOB_LINE_FIELDS(NODE(struct ep_boot_up, peer.), TEXT)),
    [EP_BOOT_PEER] = JOB_LINE(FIELDS, "xylemd-peer NODE ADDRESS NONCE",
                              JOB_LINE_FIELDS(PEER(struct ep_boot_up, peer.))),
    [EP_BOOT_START] =
        JOB_LINE(FIELDS, "xylemd-start NODE MS TEXT",
                 JOB_LINE_FIELDS(NODE(struct ep_boot_up, peer.),
                                 JOB_SCHEMA_RANGE(struct ep_boot_up, time_ms,
                                                  NULL, 1, UINT32_MAX),
                                 TEXT)),
    [EP_BOOT_UP_KINDS] = {.kind = JOB_LINE_END},
};
