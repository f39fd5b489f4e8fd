/* Lays out a node in one block of memory, and sets it up. */
#include "overlay/down.h"
#include "overlay/node.h"
#include "overlay/place.h"
#include "overlay/share.h"
#include "overlay/sink.h"
#include "overlay/state.h"
#include "overlay/up.h"
#include "overlay/witness.h"

/* Hands out the parts of a block one after another. Without a block it only
 * counts bytes. */
struct arena {
    uint8_t *mem;
    size_t used;
};

/* Takes a part without clearing it, so that its pages are not touched before
 * they are used. */
static void *arena_take_raw(struct arena *arena, size_t count, size_t each)
{
    size_t at = (arena->used + 7) & ~(size_t)7;

    arena->used = at + count * each;
    return arena->mem == NULL ? NULL : arena->mem + at;
}

static void *arena_take(struct arena *arena, size_t count, size_t each)
{
    void *part = arena_take_raw(arena, count, each);

    return part == NULL ? NULL : memset(part, 0, count * each);
}

enum { ROOT_PLACES_MAX = 4096, SPARE_PLACES = 2 };

/* How many places a node needs. A leaf needs none. The root may become the
 * parent of all nodes, up to a limit; other nodes have at most
 * cfg->children_max children. Two places more are for holds: then two holds can
 * be merged when a child needs a place. A hold that has frames left cannot be
 * merged, and while the sinks take no records every hold may have some: a node
 * other than the root then refuses the child, and the root has a further place
 * for each frame that its queues may have. */
static uint16_t places_for(const struct ov_cfg *cfg, uint32_t self)
{
    uint32_t wanted = topo_tree_size(&cfg->plan, self) - 1;
    uint32_t most = cfg->children_max;

    if (wanted == 0)
        return 0;
    if (self == 0) {
        wanted +=
            (uint32_t)cfg->standing_max * cfg->up_frames + cfg->lent_frames;
        most = (UINT16_MAX - 1u) / cfg->up_frames - SPARE_PLACES;
        if (most > ROOT_PLACES_MAX)
            most = ROOT_PLACES_MAX;
    }
    return (uint16_t)((wanted < most ? wanted : most) + SPARE_PLACES);
}

static uint32_t members_for(const struct ov_cfg *cfg, uint32_t self)
{
    return topo_tree_size(&cfg->plan, self) - 1;
}

static void lay_streams(struct ov_node *node, const struct ov_cfg *cfg,
                        struct arena *arena)
{
    size_t others = cfg->streams_max - 1u;
    struct ov_stream *streams =
        arena_take(arena, cfg->streams_max, sizeof(*streams));
    struct ov_buf **rings =
        arena_take(arena, cfg->control_frames + others * cfg->down_frames,
                   sizeof(struct ov_buf *));

    if (node == NULL)
        return;
    node->streams = streams;
    for (unsigned i = 0; i < cfg->streams_max; i++) {
        streams[i].ring = rings;
        rings += i == 0 ? cfg->control_frames : cfg->down_frames;
    }
}

static void lay_places(struct ov_node *node, const struct ov_cfg *cfg,
                       uint32_t self, uint16_t count, struct arena *arena)
{
    struct ov_place *places = arena_take(arena, count, sizeof(*places));
    struct ov_flow *flows =
        arena_take(arena, (size_t)count * cfg->streams_max, sizeof(*flows));
    struct ov_buf **queues = arena_take(arena, (size_t)count * cfg->up_frames,
                                        sizeof(struct ov_buf *));
    /* The root needs no addresses of its children, because it has no parent to
     * send them to. */
    uint8_t *addresses =
        arena_take(arena, self == 0 ? 0 : count, OV_ADDRESS_MAX);

    if (node == NULL)
        return;
    node->tree.places = places;
    for (unsigned i = 0; i < count; i++) {
        places[i].flows = flows + (size_t)i * cfg->streams_max;
        places[i].queue = queues + (size_t)i * cfg->up_frames;
        if (self != 0)
            places[i].address = addresses + (size_t)i * OV_ADDRESS_MAX;
    }
}

static void lay_root(struct ov_node *node, const struct ov_cfg *cfg,
                     uint16_t places, uint32_t entries, struct arena *arena)
{
    struct ov_root *root = arena_take(arena, 1, sizeof(*root));
    struct ov_feed *feeds = arena_take(arena, cfg->streams_max, sizeof(*feeds));
    struct ov_source *sources = arena_take(arena, entries, sizeof(*sources));
    struct ov_sunk *sunk =
        arena_take_raw(arena, cfg->records_max, sizeof(*sunk));
    struct ov_sink_frame *frames =
        arena_take(arena, (size_t)places * cfg->up_frames, sizeof(*frames));

    if (node == NULL)
        return;
    node->root = root;
    root->feeds = feeds;
    root->sources = sources;
    root->sunk = sunk;
    root->frames = frames;
}

static uint16_t pieces_for(const struct ov_cfg *cfg, bool is_leaf)
{
    if (cfg->folds)
        return ov_share_pieces(cfg, is_leaf);
    /* A leaf has no children, so its frames have one piece: its own records. */
    return is_leaf ? 1 : cfg->batch_pieces;
}

/* Lays out a node in the arena. When the arena has no block, only its size is
 * counted. */
static struct ov_node *lay_node(struct arena *arena, const struct ov_cfg *cfg,
                                uint32_t self, uint16_t inputs)
{
    uint16_t places = places_for(cfg, self);
    uint32_t room = members_for(cfg, self);
    uint32_t entries = room > 0 ? ov_members_entries(room) : 1;
    uint32_t depth = topo_tree_depth(&cfg->plan, self);
    struct ov_node *node = arena_take(arena, 1, sizeof(*node));
    uint16_t links_max = (uint16_t)(places > 0 ? places + 2 : 1);
    struct ov_link *links = arena_take(arena, links_max, sizeof(*links));
    struct ov_drr_input *drr =
        arena_take(arena, (size_t)places + inputs, sizeof(*drr));
    struct ov_share *share = arena_take(arena, cfg->folds, sizeof(*share));
    struct ov_piece *pieces =
        arena_take(arena, pieces_for(cfg, places == 0), sizeof(*pieces));
    struct ov_member *table =
        arena_take(arena, room > 0 ? entries : 0, sizeof(*table));
    struct ov_claims *claims = arena_take(arena, room > 0, sizeof(*claims));
    struct ov_ask *asks =
        arena_take(arena, ov_claims_asks(room), sizeof(*asks));
    struct ov_cell *cells =
        arena_take(arena, ov_claims_cells(room), sizeof(*cells));
    uint16_t ancestors =
        (uint16_t)(depth < OV_ANCESTORS_MAX ? depth : OV_ANCESTORS_MAX);
    uint32_t *numbers = arena_take(arena, ancestors, sizeof(*numbers));

    lay_streams(node, cfg, arena);
    lay_places(node, cfg, self, places, arena);
    if (self == 0)
        lay_root(node, cfg, places, entries, arena);
    if (node == NULL)
        return NULL;
    node->links = links;
    node->links_max = links_max;
    node->up.pieces = pieces;
    OV_ASSERT(!cfg->folds || share + 1 == (void *)pieces);
    node->tree.ancestors = numbers;
    node->tree.ancestors_max = ancestors;
    ov_drr_init(&node->up.drr, drr, (uint16_t)(places + inputs),
                cfg->frame_bytes);
    ov_members_init(&node->tree.members, table, room);
    if (room > 0) {
        ov_claims_init(claims, cells, asks, room);
        node->tree.claims = claims;
    }
    node->tree.places_max = places;
    return node;
}

size_t ov_node_size(const struct ov_cfg *cfg, uint32_t self, uint16_t inputs)
{
    struct arena arena = {0};

    lay_node(&arena, cfg, self, inputs);
    return arena.used;
}

struct ov_node *ov_node_init(void *mem, const struct ov_cfg *cfg,
                             struct ov_kept_pool *pool, uint32_t self,
                             uint16_t inputs, uint32_t seed)
{
    struct arena arena = {.mem = mem};
    struct ov_node *node;
    const char *why;

    OV_ASSERT(mem != NULL);
    OV_ASSERT(ov_cfg_check(cfg, &why) == 0);
    OV_ASSERT(self < cfg->plan.nodes);
    node = lay_node(&arena, cfg, self, inputs);
    node->cfg = cfg;
    node->inputs = inputs;
    node->random = (seed ^ (self * 2654435769u)) | 1;
    node->links_ns = OV_NEVER;
    node->serve_first = OV_NO_LINK;
    node->tree.plan = &cfg->plan;
    node->tree.self = self;
    node->tree.parent = OV_NO_LINK;
    node->tree.redial_ns = OV_NEVER;
    node->tree.attempt_ns = OV_NEVER;
    node->up.pool = pool;
    node->up.next_seq = 1;
    node->up.cursor = 1;
    node->up.unsent = 1;
    node->up.batch_bytes = OV_FRAME_HEAD_BYTES;
    node->up.reading = OV_DRR_NONE;
    if (cfg->folds)
        ov_share_reset(node);
    ov_down_init(node);
    if (self == 0)
        ov_sink_init(node);
    return node;
}

void ov_node_fini(struct ov_node *node, struct ov_out *out)
{
    ov_out_reset(out);
    ov_down_fini(node, out);
    ov_up_fini(node, out);
    if (node->address != NULL)
        ov_out_put(out, node->address);
    node->address = NULL;
    ov_witness_fini(node, out);
    for (unsigned i = 0; i < node->tree.places_used; i++) {
        struct ov_place *place = &node->tree.places[i];

        while (place->queue_len > 0)
            ov_out_put(out, ov_place_pop(node, place));
    }
}
