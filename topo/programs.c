/* Places several programs, each by topo/place.h on the nodes that still have
 * room. */
#include "topo/programs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "overlay/base/err.h"
#include "topo/place.h"

#define NO_LIMIT UINT32_MAX

/* Programs with -n, placed one after the other. */
struct chain {
    const struct topo_programs_ask *ask;
    struct topo_programs *out;
    char *why;
    uint32_t *left;         /* owned: slots of each node, or NO_LIMIT */
    uint32_t *node_of;      /* owned: the node of each host in `rest` */
    struct topo_hosts rest; /* the nodes that still have room, as hosts; owns
                               only its items */
    uint32_t nodes;         /* how many nodes there are to choose from */
    uint32_t next;          /* the node at which the next program with -n
                               continues */
};

static int fail_memory(char *why)
{
    topo_why(why, "out of memory for the placement of processes");
    return OV_ENOMEM;
}

/* The --ppn of a program on a node; 0: not given. */
static uint32_t ppn_at(const struct topo_program *program, uint32_t node)
{
    return program->ppn_of != NULL ? program->ppn_of[node] : program->ppn;
}

/* --- blocks */

static int block_add(struct topo_programs *out, struct topo_block block)
{
    struct topo_block *blocks = out->blocks;

    if (out->count == out->max) {
        uint32_t max = out->max == 0 ? 16 : 2 * out->max;

        blocks = reallocarray(blocks, max, sizeof(*blocks));
        if (blocks == NULL)
            return OV_ENOMEM;
        out->blocks = blocks;
        out->max = max;
    }
    blocks[out->count++] = block;
    return 0;
}

/* Adds processes of a program on a node. Neighbouring nodes with equally many
 * processes become one block. */
static int node_add(struct topo_programs *out, uint32_t program, uint32_t node,
                    uint32_t procs)
{
    struct topo_block block = {program, {node, node}, procs, 0};
    struct topo_block *last =
        out->count > 0 ? &out->blocks[out->count - 1] : NULL;

    if (last == NULL || last->program != program || last->each != procs ||
        last->nodes.last + 1 != node)
        return block_add(out, block);
    last->nodes.last = node;
    return 0;
}

static int by_program(const void *a, const void *b)
{
    const struct topo_block *x = a, *y = b;

    if (x->program != y->program)
        return x->program < y->program ? -1 : 1;
    return x->nodes.first < y->nodes.first ? -1 : 1;
}

/* Numbers the ranks of all blocks, and counts the nodes. */
static int number_ranks(struct topo_programs *out, char *why)
{
    uint64_t ranks = 0;

    qsort(out->blocks, out->count, sizeof(out->blocks[0]), by_program);
    for (uint32_t i = 0; i < out->count; i++) {
        struct topo_block *block = &out->blocks[i];

        block->first_rank = (uint32_t)ranks;
        ranks += (uint64_t)block->each *
                 (block->nodes.last - block->nodes.first + 1);
        if (ranks > TOPO_NUMBER_MAX) {
            topo_why(why, "the programs make more processes than there are "
                          "numbers for (4294967294): lower -n, -N or --ppn");
            return OV_EINVAL;
        }
        if (block->nodes.last >= out->nodes)
            out->nodes = block->nodes.last + 1;
    }
    out->procs = (uint32_t)ranks;
    return 0;
}

/* --- programs with -n */

/* Lists the nodes, starting with `first`, that have room. */
static void list_rest(struct chain *c, uint32_t first,
                      const struct topo_program *program)
{
    c->rest.count = 0;
    for (uint32_t node = first; node < c->nodes; node++) {
        uint32_t left = program->ppn_of != NULL ? program->ppn_of[node]
                        : program->ppn > 0      ? NO_LIMIT
                                                : c->left[node];

        if (left == 0)
            continue;
        c->node_of[c->rest.count] = node;
        c->rest.items[c->rest.count++].slots = left == NO_LIMIT ? 0 : left;
        /* Nothing says how many nodes there are, so nodes are invented as
         * needed, and one node, without a limit, is enough. */
        if (c->ask->hosts == NULL && c->ask->nodes == 0 && program->ppn == 0)
            break;
    }
}

/* Deals the placed processes to the programs from `program` on, in order: each
 * gets as many as it asks for. */
static int deal(struct chain *c, uint32_t program,
                const struct topo_place *place)
{
    uint32_t due = c->ask->programs[program].procs;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < place->nodes; i++) {
        uint32_t *left = &c->left[c->node_of[i]];
        uint32_t here = place->first[i + 1] - place->first[i];

        if (*left != NO_LIMIT)
            *left -= here < *left ? here : *left;
        while (rc == 0 && here > 0) {
            uint32_t part = here < due ? here : due;

            rc = node_add(c->out, program, c->node_of[i], part);
            here -= part;
            due -= part;
            if (due == 0 && (here > 0 || i + 1 < place->nodes))
                due = c->ask->programs[++program].procs;
        }
    }
    return rc;
}

/* Decides where the next program continues: at the last node in use, or after
 * it. */
static void move_on(struct chain *c, const struct topo_place *place,
                    const struct topo_program *program)
{
    uint32_t end = c->node_of[place->nodes - 1];
    uint32_t here = place->first[place->nodes] - place->first[place->nodes - 1];

    c->next = end + (here == ppn_at(program, end) || c->left[end] == 0);
}

/* Places `count` programs, from `program` on, beginning at node `first`. */
static int place_from(struct chain *c, uint32_t program, uint32_t count,
                      uint32_t first, char *why)
{
    const struct topo_program *programs = &c->ask->programs[program];
    struct topo_place_ask ask = {
        .hosts = &c->rest,
        .ppn = programs[0].ppn_of == NULL ? programs[0].ppn : 0,
    };
    struct topo_place place;
    uint64_t procs = 0;
    int rc;

    for (uint32_t i = 0; i < count; i++)
        procs += programs[i].procs;
    ask.procs = procs < TOPO_NONE ? (uint32_t)procs : TOPO_NONE;
    list_rest(c, first, &programs[0]);
    if (c->rest.count == 0) {
        topo_why(why,
                 "no slot is left: give more hosts, more slots (HOST:N), or "
                 "--ppn to say how many go on each");
        return OV_EINVAL;
    }
    if (c->ask->nodes > 0)
        ask.nodes = procs < c->rest.count ? ask.procs : c->rest.count;
    rc = topo_place_init(&place, &ask, why);
    if (rc != 0)
        return rc;
    rc = deal(c, program, &place) == 0 ? 0 : fail_memory(why);
    if (rc == 0 && first >= c->next)
        move_on(c, &place, &programs[0]);
    topo_place_fini(&place);
    return rc;
}

/* Reports that there is no room for a program. The room of a host is at most
 * the program's --ppn there. */
static void say_room(const struct chain *c, uint32_t program)
{
    const struct topo_program *p = &c->ask->programs[program];
    uint64_t room = 0;

    for (uint32_t node = 0; node < c->nodes; node++)
        room += p->ppn_of[node];
    topo_why(c->why,
             "'%s': asked for %u processes, but the hosts have room for "
             "%" PRIu64 " (--ppn): give more hosts, or a larger --ppn",
             p->name, p->procs, room);
}

static int place_group(struct chain *c, uint32_t program, uint32_t count)
{
    const struct topo_program *programs = &c->ask->programs[program];
    char why[TOPO_WHY_MAX] = "";
    int rc = OV_EINVAL;

    if (c->next < c->nodes)
        rc = place_from(c, program, count, c->next, why);
    if (rc == OV_EINVAL && c->next > 0)
        rc = place_from(c, program, count, 0, why);
    if (rc == OV_EINVAL && programs[0].ppn_of != NULL)
        say_room(c, program);
    else if (rc == OV_EINVAL && count == 1)
        topo_why(c->why, "program %u ('%s'): %s", program + 1, programs[0].name,
                 why);
    else if (rc == OV_EINVAL)
        topo_why(c->why, "programs %u to %u ('%s' to '%s'): %s", program + 1,
                 program + count, programs[0].name, programs[count - 1].name,
                 why);
    else if (rc != 0)
        topo_why(c->why, "%s", why);
    return rc;
}

/* Finds out how many nodes there are to choose from: those of the list, or as
 * many as needed. Returns 0, or OV_EINVAL with a sentence. */
static int count_nodes(struct chain *c)
{
    const struct topo_programs_ask *ask = c->ask;
    struct topo_place_ask one = {.hosts = ask->hosts, .nodes = ask->nodes};
    struct topo_place place;
    uint64_t need = 1;
    int rc = topo_place_init(&place, &one, c->why);

    if (rc != 0)
        return rc;
    c->nodes = place.nodes;
    topo_place_fini(&place);
    if (ask->hosts != NULL || ask->nodes > 0)
        return 0;
    for (uint32_t i = 0; i < ask->count; i++) {
        const struct topo_program *p = &ask->programs[i];

        if (p->ppn > 0)
            need += (p->procs + (uint64_t)p->ppn - 1) / p->ppn;
    }
    c->nodes = need < TOPO_HOSTS_MAX ? (uint32_t)need : TOPO_HOSTS_MAX;
    return 0;
}

static bool has_slots(const struct topo_hosts *hosts)
{
    for (uint32_t i = 0; hosts != NULL && i < hosts->count; i++) {
        if (hosts->items[i].slots > 0)
            return true;
    }
    return false;
}

static int chain_open(struct chain *c)
{
    const struct topo_programs_ask *ask = c->ask;
    uint32_t unsaid = NO_LIMIT;
    int rc = count_nodes(c);

    if (rc != 0)
        return rc;
    c->left = calloc(c->nodes, sizeof(c->left[0]));
    c->node_of = calloc(c->nodes, sizeof(c->node_of[0]));
    c->rest.items = calloc(c->nodes, sizeof(c->rest.items[0]));
    if (c->left == NULL || c->node_of == NULL || c->rest.items == NULL)
        return fail_memory(c->why);
    /* The rule is that of topo/place.h for a single program. */
    if (ask->nodes == 0 && has_slots(ask->hosts))
        unsaid = 1;
    for (uint32_t node = 0; node < c->nodes; node++) {
        uint32_t said = ask->hosts == NULL ? 0 : ask->hosts->items[node].slots;

        c->left[node] = said > 0 ? said : unsaid;
    }
    return 0;
}

static void chain_close(struct chain *c)
{
    free(c->left);
    free(c->node_of);
    free(c->rest.items);
}

/* True when a program is placed by slots: it has -n and no --ppn. */
static bool fills(const struct topo_program *program)
{
    return program->procs > 0 && program->ppn == 0;
}

static int place_chain(struct chain *c)
{
    const struct topo_programs_ask *ask = c->ask;
    uint32_t count;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < ask->count; i += count) {
        count = 1;
        if (ask->programs[i].procs == 0)
            continue;
        while (i + count < ask->count && fills(&ask->programs[i]) &&
               fills(&ask->programs[i + count]))
            count++;
        rc = place_group(c, i, count);
    }
    return rc;
}

/* --- all programs */

/* How many nodes the job has. Without a list: as many as the programs with -n
 * needed, or one. */
static uint32_t nodes_of_all(const struct chain *c)
{
    uint32_t nodes = 1;

    if (c->ask->hosts != NULL || c->ask->nodes > 0)
        return c->nodes;
    for (uint32_t i = 0; i < c->out->count; i++) {
        if (c->out->blocks[i].nodes.last >= nodes)
            nodes = c->out->blocks[i].nodes.last + 1;
    }
    return nodes;
}

/* Places a program without -n on all nodes. */
static int place_on_all(struct topo_programs *out, uint32_t program,
                        const struct topo_program *p, uint32_t nodes)
{
    struct topo_block block = {
        program, {0, nodes - 1}, p->ppn > 0 ? p->ppn : 1, 0};
    int rc = 0;

    if (p->ppn_of == NULL)
        return block_add(out, block);
    for (uint32_t node = 0; rc == 0 && node < nodes; node++)
        rc = node_add(out, program, node, p->ppn_of[node]);
    return rc;
}

static int place_many(struct topo_programs *out,
                      const struct topo_programs_ask *ask, char *why)
{
    struct chain chain = {.ask = ask, .out = out, .why = why};
    int rc = chain_open(&chain);
    uint32_t nodes;

    if (rc == 0)
        rc = place_chain(&chain);
    nodes = rc == 0 ? nodes_of_all(&chain) : 0;
    for (uint32_t i = 0; rc == 0 && i < ask->count; i++) {
        const struct topo_program *p = &ask->programs[i];

        if (p->procs == 0 && place_on_all(out, i, p, nodes) != 0)
            rc = fail_memory(why);
    }
    chain_close(&chain);
    return rc;
}

static int place_one(struct topo_programs *out,
                     const struct topo_programs_ask *ask, char *why)
{
    struct topo_place_ask one = {
        .hosts = ask->hosts,
        .nodes = ask->nodes,
        .procs = ask->programs[0].procs,
        .ppn = ask->programs[0].ppn,
    };
    struct topo_place place;
    int rc = topo_place_init(&place, &one, why);

    for (uint32_t node = 0; rc == 0 && node < place.nodes; node++) {
        if (node_add(out, 0, node, place.first[node + 1] - place.first[node]))
            rc = fail_memory(why);
    }
    topo_place_fini(&place);
    return rc;
}

int topo_programs_place(struct topo_programs *out,
                        const struct topo_programs_ask *ask, char *why)
{
    int rc;

    *out = (struct topo_programs){0};
    rc = ask->count == 1 && ask->programs[0].ppn_of == NULL
             ? place_one(out, ask, why)
             : place_many(out, ask, why);
    if (rc == 0)
        rc = number_ranks(out, why);
    if (rc != 0)
        topo_programs_fini(out);
    return rc;
}

void topo_program_count(struct topo_program *out, uint32_t each,
                        uint32_t *ppn_of, uint32_t hosts)
{
    out->ppn = 0;
    out->ppn_of = NULL;
    for (uint32_t i = 0; i < hosts; i++) {
        uint64_t ppn = (uint64_t)each * ppn_of[i];

        ppn_of[i] = ppn < TOPO_NUMBER_MAX ? (uint32_t)ppn : TOPO_NUMBER_MAX;
        if (ppn_of[i] != ppn_of[0])
            out->ppn_of = ppn_of;
        if (ppn_of[i] > out->ppn)
            out->ppn = ppn_of[i];
    }
}

void topo_programs_fini(struct topo_programs *out)
{
    free(out->blocks);
    *out = (struct topo_programs){0};
}

uint32_t topo_programs_most(const struct topo_programs *placed)
{
    uint32_t *procs = calloc(placed->nodes, sizeof(*procs));
    uint32_t most = 0;

    if (procs == NULL)
        return 0;
    for (uint32_t i = 0; i < placed->count; i++) {
        const struct topo_block *block = &placed->blocks[i];

        for (uint32_t n = block->nodes.first; n <= block->nodes.last; n++) {
            procs[n] += block->each;
            if (procs[n] > most)
                most = procs[n];
        }
    }
    free(procs);
    return most;
}
