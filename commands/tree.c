/* `xylem tree`. */
#include "commands/tree.h"

#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "commands/run_options.h"
#include "commands/run_pmix.h"
#include "commands/run_values.h"
#include "commands/tree_draw.h"
#include "commands/tree_json.h"

enum { KEY_JSON = 1024, KEY_ALL };

enum { COLUMNS = 100 };

static bool is_json, is_whole;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    (void)state;
    if (key != KEY_JSON && key != KEY_ALL)
        return ARGP_ERR_UNKNOWN;
    is_json |= key == KEY_JSON;
    is_whole |= key == KEY_ALL;
    return 0;
}

/* Columns of the terminal; where there is none as many as are read with ease,
 * or with --all no limit (0). */
static uint32_t columns(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        return size.ws_col;
    return is_whole ? 0 : COLUMNS;
}

/* A time in three digits. */
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

/* Where the order of the hosts comes from. */
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
    struct tree_look look = {.width = columns(), .is_whole = is_whole};
    int rc;

    setlocale(LC_CTYPE, "");
    look.is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    put_head(layout);
    rc = tree_draw(layout, &look, stdout);
    if (rc == 0 && fflush(stdout) == 0)
        return 0;
    fputs("xylem: the tree cannot be drawn: out of memory, or nobody takes "
          "it\n",
          stderr);
    return 1;
}

static int write_json(const struct ep_layout *layout)
{
    if (tree_json(layout, stdout) == 0)
        return 0;
    fputs("xylem: the tree cannot be written as JSON\n", stderr);
    return 1;
}

int tree_main(int argc, char **argv)
{
    static const struct argp_option own[] = {
        {"all", KEY_ALL, NULL, 0, "all levels, in as many lines as it takes",
         9},
        {"json", KEY_JSON, NULL, 0, "write the tree as JSON", 9},
        {0}};
    static const struct argp argp = {.options = own, .parser = parse};
    static const struct argp_child more[] = {{.argp = &argp}, {0}};
    static char name[] = "xylem tree";
    static const struct run_command command = {
        .name = name,
        .args_doc = RUN_ARGS_DOC,
        .doc = "Draw the tree that `xylem run' would build with these options.",
        .more = more,
        .tap = &run_pmix_tap,
        .pmix_allow = run_pmix_allow,
        .takes = RUN_MAY_PROGRAMS};
    static struct ep_run_options options;
    struct ep_layout *layout;
    int rc;

    run_options_parse(argc, argv, &command, &options);
    if (options.dvm != NULL)
        run_usage("--dvm builds no tree: give the options of the dvm");
    rc = ep_layout_open(&options, &layout);
    if (rc != 0)
        return rc;
    rc = is_json ? write_json(layout) : draw(layout);
    ep_layout_close(layout);
    return rc;
}
