/* The command `xylem tree`. */
#include "commands/commands.h"

#include <jansson.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "commands/refuse.h"
#include "commands/run_options.h"
#include "commands/run_pmix.h"
#include "commands/tree_draw.h"
#include "config.h"

#define OPTION_INTO struct asked

enum { COLUMNS = 100 };

static struct asked {
    bool is_json, is_whole;
} asked;

/* --- text for people */

/* Returns the number of columns of the terminal. Without a terminal: a width
 * that is easy to read, or 0 (no limit) with --all. */
static uint32_t columns(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        return size.ws_col;
    return asked.is_whole ? 0 : COLUMNS;
}

/* Writes a time with three digits. */
static void put_time(const char *before, double ns)
{
    if (ns < 1e6)
        printf("%s%.0f us", before, ns / 1e3);
    else if (ns < 1e9)
        printf("%s%.3g ms", before, ns / 1e6);
    else
        printf("%s%.3g s", before, ns / 1e9);
}

static void put_levels(const struct topo_tree *tree)
{
    struct topo_range level = {0, 0};
    uint32_t levels = topo_tree_height(tree);

    printf("%u level%s:", levels, levels == 1 ? "" : "s");
    for (uint32_t i = 0; i < levels; i++) {
        level = topo_tree_below(tree, level);
        printf("%s %u", i > 0 ? " +" : "", level.last - level.first + 1);
    }
    putchar('\n');
}

/* Prints which source has given the order of the hosts. */
static void put_source(const struct ep_tree_plan *plan)
{
    switch (plan->by) {
    case EP_TREE_LIST:
        break;
    case EP_TREE_FILE:
        puts("switches: those of --topology");
        break;
    case EP_TREE_SLURM:
        puts("switches: as Slurm tells them");
        break;
    case EP_TREE_ORDER:
        puts("no switches known: neighbours by name are under one subtree");
        break;
    case EP_TREE_NAMES:
        puts("no switches known: guessed from the names of hosts");
        break;
    case EP_TREE_ADDRESSES:
        puts("no switches known: guessed from addresses in /etc/hosts");
        break;
    }
}

static void put_head(const struct ep_layout *layout)
{
    const struct topo_tree *tree = ep_layout_tree(layout);
    const struct ep_tree_plan *plan = ep_layout_plan(layout);
    struct topo_times times = topo_cost_times(&plan->cost, tree, plan->procs);
    uint32_t hosts = tree->nodes - 1;

    printf("%u %s%s, arity %u%s", hosts,
           ep_layout_is_virtual(layout) ? "virtual node" : "host",
           hosts == 1 ? "" : "s", plan->arity,
           plan->is_chosen ? " by the model" : "");
    if (plan->under.under != NULL)
        printf(", %u of %u links cross switches (=>)", plan->shape.crossings,
               hosts);
    printf("\n");
    put_levels(tree);
    put_source(plan);
    put_time("foretold: 4 KiB to all and the word back ", times.broadcast_ns);
    put_time(", a line of each process ", times.gather_ns);
    printf("\n\n");
}

static int draw(const struct ep_layout *layout)
{
    struct tree_look look = {.width = columns(), .is_whole = asked.is_whole};
    int rc;

    setlocale(LC_CTYPE, "");
    look.is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    put_head(layout);
    rc = tree_draw(layout, &look, stdout);
    if (rc == 0 && fflush(stdout) == 0)
        return 0;
    return refuse("cannot draw the tree: out of memory, or stdout is closed");
}

/* --- JSON for programs */

static void add_number(json_t *object, const char *key, uint64_t value)
{
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

/* Adds the number of a node as in XYLEM_NODE; null for the launcher. */
static void add_node(json_t *object, const char *key,
                     const struct ep_layout *layout, uint32_t node)
{
    json_object_set_new(
        object, key,
        node == 0 ? json_null() : json_integer(ep_layout_place(layout, node)));
}

static json_t *node_json(const struct ep_layout *layout, uint32_t node)
{
    const struct topo_fabric *fabric = &ep_layout_plan(layout)->fabric;
    const struct topo_tree *tree = ep_layout_tree(layout);
    uint32_t s = ep_layout_switch(layout, node);
    json_t *object = json_object();

    add_node(object, "node", layout, node);
    json_object_set_new(object, "host",
                        json_string(ep_layout_host(layout, node)));
    json_object_set_new(object, "switch",
                        s < fabric->switches.count
                            ? json_string(topo_hosts_name(&fabric->switches, s))
                            : json_null());
    if (node == 0)
        return object;
    add_node(object, "parent", layout, topo_tree_parent(tree, node));
    add_number(object, "level", topo_tree_depth(tree, node));
    add_number(object, "procs", ep_layout_procs(layout, node));
    json_object_set_new(object, "crosses",
                        json_boolean(tree_crosses(layout, node)));
    return object;
}

static const char *source_name(enum ep_tree_by by)
{
    static const char *const names[] = {
        [EP_TREE_LIST] = "list",   [EP_TREE_FILE] = "topology",
        [EP_TREE_SLURM] = "slurm", [EP_TREE_ORDER] = "order",
        [EP_TREE_NAMES] = "names", [EP_TREE_ADDRESSES] = "addresses",
    };

    return names[by];
}

/* Writes the tree as one JSON object. Returns 0, or -1 when that fails. */
static int put_json(const struct ep_layout *layout, FILE *out)
{
    const struct topo_tree *tree = ep_layout_tree(layout);
    const struct ep_tree_plan *plan = ep_layout_plan(layout);
    struct topo_times times = topo_cost_times(&plan->cost, tree, plan->procs);
    json_t *object = json_object(), *nodes = json_array();
    int rc;

    json_object_set_new(object, "version", json_string(PACKAGE_VERSION));
    add_number(object, "hosts", tree->nodes - 1);
    add_number(object, "arity", plan->arity);
    json_object_set_new(object, "is_chosen", json_boolean(plan->is_chosen));
    json_object_set_new(object, "by", json_string(source_name(plan->by)));
    add_number(object, "levels", topo_tree_height(tree));
    add_number(object, "crossings", plan->shape.crossings);
    json_object_set_new(object, "broadcast_s",
                        json_real(times.broadcast_ns / 1e9));
    json_object_set_new(object, "gather_s", json_real(times.gather_ns / 1e9));
    for (uint32_t node = 0; node < tree->nodes; node++)
        json_array_append_new(nodes, node_json(layout, node));
    json_object_set_new(object, "nodes", nodes);
    rc = json_dumpf(object, out, JSON_COMPACT);
    json_decref(object);
    return rc != 0 || fputc('\n', out) == EOF || fflush(out) != 0 ? -1 : 0;
}

static int write_json(const struct ep_layout *layout)
{
    if (put_json(layout, stdout) == 0)
        return 0;
    return refuse("cannot write the tree as JSON");
}

/* --- the command */

int tree_main(int argc, char **argv)
{
    /* With OF_PROGRAM these options are also allowed after a ':'. */
    static const struct option_row own[] = {
        {"all", 0, NULL, "all levels, in as many lines as it takes", OF_PROGRAM,
         FLAG(is_whole)},
        {"json", 0, NULL, "write the tree as JSON", OF_PROGRAM, FLAG(is_json)},
        {0}};
    static const char *const used[] = {
        "hosts", "hostfile", "exclude",  "nodes", "procs",
        "ppn",   "arity",    "topology", "model", "launcher",
        "all",   "json",     "verbose",  NULL};
    static const struct run_command command = {
        .name = "xylem tree",
        .args_doc = "[PROGRAM [ARGS...]]",
        .doc = "Draw the tree that `xylem run' would build with these options. "
               "All options of `xylem run' are taken; those that are not shown "
               "here change nothing.",
        .help = {.first = used,
                 .has_first_only = true,
                 .examples = "  xylem tree -w 'node[001-128]'\n"
                             "  xylem tree -N 1000 --arity 8 --all\n"},
        .more = {.rows = own, .into = &asked, .is_apart = true},
        .desk = run_pmix_desk,
        .pmix_allow = run_pmix_allow,
        .takes = RUN_MAY_PROGRAMS};
    static struct ep_run_options options;
    struct ep_layout *layout;
    int rc;

    usage_command = "tree";
    run_options_parse(argc, argv, &command, &options);
    if (options.dvm != NULL)
        usage("with --dvm no tree is built: give the options of `xylem dvm', "
              "whose tree is to be drawn");
    rc = ep_layout_open(&options, &layout);
    if (rc != 0)
        return rc;
    rc = asked.is_json ? write_json(layout) : draw(layout);
    ep_layout_close(layout);
    return rc;
}
