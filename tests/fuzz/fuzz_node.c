/* Runs a few nodes of the core while something between them changes frames.
 *
 * The bytes are a script of steps: deliver frames, let time pass, write output,
 * feed input, and change frames under way. Whatever arrives, no node may fail
 * an assertion, or a check of nodes.c.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "overlay/control.h"
#include "tests/fuzz/nodes.h"

enum {
    LINE_BYTES = 40,
    CALM_ROUNDS = 10 /* rounds after the script in which only time passes */
};

static const uint64_t ms_ns = 1000000;

struct script {
    const uint8_t *at, *end;
    bool has_opened, has_said_goodbye;
};

static uint8_t next(struct script *script)
{
    return script->at < script->end ? *script->at++ : 0;
}

static uint32_t next_u16(struct script *script)
{
    uint32_t low = next(script);

    return low | (uint32_t)next(script) << 8;
}

/* Picks a frame that is under way, not always the first; NULL: there is
 * none. */
static struct fly *pick_frame(struct script *script)
{
    unsigned skip = next(script) % 4;
    struct fly *found = NULL;

    for (size_t i = nodes.flies_first; i < nodes.flies_end; i++) {
        if (nodes.flies[i].kind != FLY_FRAME)
            continue;
        found = &nodes.flies[i];
        if (skip-- == 0)
            break;
    }
    return found;
}

static void fix_length(struct ov_buf *buf)
{
    struct ov_wr wr = ov_wr_init(buf->mem + 4, 4);

    ov_wr_u32(&wr, buf->len_bytes);
}

static void spoil_byte(struct script *script)
{
    struct fly *f = pick_frame(script);
    uint32_t at = next_u16(script);
    uint8_t value = next(script);

    if (f != NULL && f->buf->len_bytes > 0)
        f->buf->mem[at % f->buf->len_bytes] ^= value;
}

static void spoil_length(struct script *script)
{
    struct fly *f = pick_frame(script);
    uint32_t len_bytes = next_u16(script) % (nodes.cfg.frame_bytes + 1);

    if (f == NULL)
        return;
    f->buf->len_bytes = len_bytes;
    if (next(script) % 4 != 0 && len_bytes >= OV_FRAME_HEAD_BYTES)
        fix_length(f->buf);
}

/* Replaces a frame by bytes of the script under a head that is valid for
 * them. */
static void spoil_all(struct script *script)
{
    struct fly *f = pick_frame(script);
    uint8_t type = next(script), count = next(script);
    uint32_t body_bytes = next(script);
    struct ov_wr wr;

    if (f == NULL)
        return;
    f->buf->len_bytes = OV_FRAME_HEAD_BYTES + body_bytes;
    wr = ov_wr_init(f->buf->mem, f->buf->len_bytes);
    ov_frame_head_encode(
        &wr, &(struct ov_frame_head){.type = (uint8_t)(1 + type % 3),
                                     .count = count,
                                     .len_bytes = f->buf->len_bytes});
    for (uint32_t i = 0; i < body_bytes; i++)
        ov_wr_u8(&wr, next(script));
}

/* Breaks the connection on which a frame is under way. */
static void break_link(struct script *script)
{
    struct fly *f = pick_frame(script);

    if (f == NULL || nodes.subjects[f->node].is_gone ||
        nodes.subjects[f->node].wires[f->link].era != f->era)
        return;
    nodes_close_link(f->node, f->link);
    nodes_step(f->node,
               (struct ov_event){.kind = OV_EV_LINK_DOWN, .link = f->link});
}

static void write_some(struct script *script)
{
    uint32_t n = next(script) % nodes.cfg.plan.nodes;

    if (n == 0 || nodes.subjects[n].is_gone)
        return;
    nodes.subjects[n].to_write += LINE_BYTES * (1u + next(script));
    nodes_step(n, (struct ov_event){.kind = OV_EV_READY, .input = 1});
}

static void feed(uint32_t stream, const uint8_t *mem, size_t len_bytes,
                 uint32_t flags)
{
    struct ov_event ev = {.kind = OV_EV_DOWN,
                          .stream = stream,
                          .len_bytes = (uint32_t)len_bytes,
                          .flags = flags};

    if (nodes.subjects[0].is_gone ||
        ov_node_down_room(nodes.subjects[0].node, stream) == 0)
        return;
    ev.buf = nodes_buf_new();
    memcpy(ev.buf->mem + OV_DOWN_HEAD_BYTES, mem, len_bytes);
    nodes_step(0, ev);
}

/* Plays the root's driver: opens a stream, feeds it, and says goodbye. */
static void control(struct script *script)
{
    uint8_t mem[64] = {0};
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
    struct topo_range range = {.first = next(script) % nodes.cfg.plan.nodes,
                               .last = nodes.cfg.plan.nodes - 1};
    struct ov_open open = {
        .stream = 1, .window = nodes.cfg.down_frames, .ranges = 1};

    if (script
            ->has_said_goodbye) /* the driver says nothing after its goodbye */
        return;
    switch (next(script) % 4) {
    case 0:
        if (script->has_opened)
            break;
        script->has_opened = true;
        ov_open_encode(&wr, &open, &range);
        feed(0, mem, (size_t)(wr.at - mem), 0);
        break;
    case 1:
        feed(1, mem, sizeof(mem), next(script) % 8 == 0 ? OV_DOWN_END : 0);
        break;
    case 2:
        ov_control_encode(&wr, OV_CONTROL_APP, false);
        feed(0, mem, sizeof(mem), 0);
        break;
    default:
        script->has_said_goodbye = true;
        ov_control_encode(&wr, OV_CONTROL_GOODBYE, false);
        feed(0, mem, OV_CONTROL_HEAD_BYTES, 0);
    }
}

/* Announces that the launcher will be stopped, or that it goes on. */
static void pause_root(struct script *script)
{
    bool is_paused = next(script) % 2 == 0;

    if (!nodes.subjects[0].is_gone)
        nodes_step(
            0, (struct ov_event){.kind = OV_EV_PAUSE, .is_paused = is_paused});
}

/* Plays a rare kind of step. These kinds have the highest numbers, so that
 * older seeds keep their meaning. */
static bool play_rare(struct script *script, uint8_t what)
{
    if (what < 240)
        return false;
    if (what < 248)
        nodes_be_slow(what < 244);
    else
        pause_root(script);
    return true;
}

static void play(struct script *script)
{
    uint8_t what = next(script);

    if (play_rare(script, what))
        return;
    switch (what % 10) {
    case 0:
    case 1:
        nodes_deliver(1u + next(script) % 32);
        break;
    case 2:
        nodes_deliver(NODES_FLIES_MAX);
        break;
    case 3:
        nodes_pass_time(ms_ns << next(script) % 16);
        break;
    case 4:
        write_some(script);
        break;
    case 5:
        control(script);
        break;
    case 6:
        spoil_byte(script);
        break;
    case 7:
        spoil_length(script);
        break;
    case 8:
        spoil_all(script);
        break;
    default:
        break_link(script);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    struct script script = {.at = mem, .end = mem + len_bytes};
    struct topo_tree plan = {.parents = NULL};

    plan.nodes = 2u + next(&script) % (NODES_MAX - 1);
    plan.arity = 1u + next(&script) % 3;
    nodes_open(plan);
    while (script.at < script.end && !nodes_is_tired())
        play(&script);
    nodes_be_slow(false);
    for (unsigned i = 0; i < CALM_ROUNDS; i++) {
        nodes_deliver(NODES_FLIES_MAX);
        nodes_pass_time(ms_ns * 1000);
    }
    nodes_close();
    return 0;
}
