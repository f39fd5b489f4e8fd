/* A single node of the core under test: see lab.h. */
#include "tests/unit/lab.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/fold.h"
#include "tests/unit/words.h"

static void on_panic(const char *file, int line, const char *what)
{
    fail_msg("%s:%d: %s", file, line, what);
    abort();
}

/* --- buffers */

struct ov_buf *lab_buf(struct lab *lab)
{
    struct ov_buf *buf = calloc(1, sizeof(*buf));

    assert_non_null(buf);
    buf->mem = malloc(lab->cfg.frame_bytes);
    assert_non_null(buf->mem);
    buf->cap_bytes = lab->cfg.frame_bytes;
    buf->refs = 1;
    lab->bufs_live++;
    return buf;
}

static void buf_free(struct lab *lab, struct ov_buf *buf)
{
    free(buf->mem);
    free(buf);
    lab->bufs_live--;
}

void lab_put(struct lab *lab, struct ov_buf *buf)
{
    if (ov_buf_unref(buf))
        buf_free(lab, buf);
}

static void take_back(struct lab *lab)
{
    while (lab->out->freed != NULL) {
        struct ov_buf *buf = lab->out->freed;

        lab->out->freed = buf->next;
        buf_free(lab, buf);
    }
}

/* --- actions as text */

static void say(struct lab *lab, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct lab *lab, const char *format, ...)
{
    size_t at = strlen(lab->text);
    va_list args;

    va_start(args, format);
    assert_true(vsnprintf(lab->text + at, sizeof(lab->text) - at, format,
                          args) < (int)(sizeof(lab->text) - at));
    va_end(args);
}

static void say_send(struct lab *lab, const struct ov_act *act)
{
    static uint8_t mem[OV_FRAME_BYTES_MAX];
    static char words[LAB_TEXT_BYTES];
    const struct ov_slice *slice = &lab->out->slice[act->slice_first];
    uint32_t len = act->head_bytes;

    memcpy(mem, lab->out->head + act->head_first, len);
    for (unsigned i = 0; i < act->slices; i++) {
        assert_true(len + slice[i].len_bytes <= lab->cfg.frame_bytes);
        memcpy(mem + len, slice[i].buf->mem + slice[i].off_bytes,
               slice[i].len_bytes);
        len += slice[i].len_bytes;
        lab_put(lab, slice[i].buf);
    }
    words_of_frame(mem, len, words, sizeof(words));
    say(lab, "send:L%u[%s]", (unsigned)act->link, words);
}

static void say_consume(struct lab *lab, const struct ov_act *act)
{
    const struct ov_slice *slice = &lab->out->slice[act->slice_first];

    assert_int_equal(act->slices, 1);
    say(lab, "consume:%" PRIu32 ".%" PRIu64 "(%" PRIu32 ")%s", act->stream,
        act->seq, slice->len_bytes, act->flags & OV_DOWN_END ? "end" : "");
    lab_put(lab, slice->buf);
}

static void say_record(struct lab *lab, const struct ov_act *act)
{
    const struct ov_slice *slice = &lab->out->slice[act->slice_first];

    assert_int_equal(act->slices, 1);
    assert_int_equal(slice->len_bytes, act->rec.len_bytes);
    say(lab, "record:%" PRIu32 ".%" PRIu64 "(%" PRIu32 ")%s#%" PRIu32,
        act->rec.source, act->rec.seq, act->rec.len_bytes,
        words_are_in_place(&act->rec, slice->buf->mem + slice->off_bytes) ? ""
                                                                          : "?",
        act->cookie);
    lab_put(lab, slice->buf);
}

static void say_address(struct lab *lab, const struct ov_act *act)
{
    const struct ov_slice *slice = &lab->out->slice[act->slice_first];

    assert_int_equal(act->slices, 1);
    say(lab, "address:%" PRIu32 "(%.*s)", act->node, (int)slice->len_bytes,
        (const char *)slice->buf->mem + slice->off_bytes);
    lab_put(lab, slice->buf);
}

static void say_act(struct lab *lab, const struct ov_act *act)
{
    switch (act->kind) {
    case OV_ACT_DIAL:
        say(lab, "dial:%" PRIu32 "#%" PRIu64, act->node, act->attach);
        break;
    case OV_ACT_CLOSE:
        say(lab, "close:L%u", (unsigned)act->link);
        break;
    case OV_ACT_SEND:
        say_send(lab, act);
        break;
    case OV_ACT_READ:
        say(lab, "read:I%u<%" PRIu32, (unsigned)act->input, act->max_bytes);
        break;
    case OV_ACT_CONSUME:
        say_consume(lab, act);
        break;
    case OV_ACT_RECORD:
        say_record(lab, act);
        break;
    case OV_ACT_JOINED:
        say(lab, "joined");
        break;
    case OV_ACT_PROBE:
        say(lab, "probe:%" PRIu32, act->node);
        if (act->seq != 0)
            say(lab, "#%" PRIu64 "(L%u)", act->seq, (unsigned)act->link);
        break;
    case OV_ACT_ADDRESS:
        say_address(lab, act);
        break;
    case OV_ACT_ORPHAN:
        say(lab, "orphan:%" PRIu32, act->node);
        break;
    case OV_ACT_ADOPTED:
        say(lab, "adopted:%" PRIu32, act->node);
        break;
    case OV_ACT_END:
        say(lab, "end:%" PRIu32, act->flags);
        break;
    case OV_ACT_LOST:
        say(lab, "lost:%" PRIu32, act->node);
        break;
    case OV_ACT_STALL:
        say(lab, "stall:%" PRIu32 "@%" PRIu32 ".%" PRIu32, act->stream,
            act->node, act->rank);
        break;
    case OV_ACT_LEAVE:
        say(lab, "leave");
        break;
    case OV_ACT_KINDS:
        say(lab, "?");
        break;
    }
}

const char *seen(struct lab *lab, uint64_t ms, struct ov_event ev)
{
    ev.now_ns = ms * LAB_MS_NS;
    ov_node_step(lab->node, &ev, lab->out);
    lab->text[0] = '\0';
    for (uint32_t i = 0; i < lab->out->acts_count; i++) {
        if (i > 0)
            say(lab, " ");
        say_act(lab, &lab->out->acts[i]);
    }
    if (lab->out->more)
        say(lab, "%smore", lab->text[0] == '\0' ? "" : " ");
    take_back(lab);
    lab->wake_ns = lab->out->wake_ns;
    return lab->text;
}

int64_t lab_wake(const struct lab *lab, uint64_t ms)
{
    if (lab->wake_ns == OV_NEVER)
        return -1;
    if (lab->wake_ns <= ms * LAB_MS_NS)
        return 0;
    return (int64_t)((lab->wake_ns - ms * LAB_MS_NS) / LAB_MS_NS);
}

/* --- events that carry bytes */

struct ov_buf *lab_frame(struct lab *lab, const char *words)
{
    struct ov_buf *buf = lab_buf(lab);

    buf->len_bytes =
        words_to_frame(words, &lab->control_seq, buf->mem, buf->cap_bytes);
    return buf;
}

const char *heard_buf(struct lab *lab, uint64_t ms, uint16_t link,
                      struct ov_buf *buf)
{
    struct ov_event ev = {.kind = OV_EV_FRAME, .link = link, .buf = buf};

    return seen(lab, ms, ev);
}

const char *heard(struct lab *lab, uint64_t ms, uint16_t link,
                  const char *words)
{
    return heard_buf(lab, ms, link, lab_frame(lab, words));
}

const char *wrote_flags(struct lab *lab, uint64_t ms, uint16_t input,
                        uint32_t len_bytes, enum ov_input_state state,
                        uint8_t flags)
{
    struct ov_event ev = {.kind = OV_EV_READ, .input = input};
    struct ov_record rec = {.source = lab->node->tree.self,
                            .seq = lab->own_seq,
                            .len_bytes = len_bytes};

    ev.read.buf = lab_buf(lab);
    ev.read.off_bytes = 7;
    ev.read.len_bytes = len_bytes;
    ev.read.channel = OV_CHANNEL_STDOUT;
    ev.read.flags = flags;
    ev.read.state = (uint8_t)state;
    words_fill(&rec, ev.read.buf->mem + 7);
    lab->own_seq += len_bytes > 0 || flags != 0;
    return seen(lab, ms, ev);
}

const char *wrote(struct lab *lab, uint64_t ms, uint16_t input,
                  uint32_t len_bytes, enum ov_input_state state)
{
    return wrote_flags(lab, ms, input, len_bytes, state, 0);
}

const char *fed(struct lab *lab, uint64_t ms, uint32_t stream,
                uint32_t len_bytes, uint32_t flags)
{
    struct ov_event ev = {.kind = OV_EV_DOWN,
                          .stream = stream,
                          .len_bytes = len_bytes,
                          .flags = flags,
                          .buf = lab_buf(lab)};
    struct ov_record rec = {.source = stream,
                            .seq = ov_node_look(lab->node, stream).down_head,
                            .len_bytes = len_bytes};

    words_fill(&rec, ev.buf->mem + OV_DOWN_HEAD_BYTES);
    return seen(lab, ms, ev);
}

const char *told(struct lab *lab, uint64_t ms, const char *words)
{
    struct ov_buf *buf = lab_frame(lab, words);
    struct ov_event ev = {.kind = OV_EV_DOWN,
                          .len_bytes = buf->len_bytes - OV_DOWN_HEAD_BYTES,
                          .buf = buf};

    return seen(lab, ms, ev);
}

/* --- opening and closing */

struct ov_cfg lab_cfg(uint32_t nodes, uint32_t arity)
{
    struct ov_cfg cfg =
        ov_cfg_default((struct topo_tree){.nodes = nodes, .arity = arity});

    cfg.frame_bytes = 4096;
    cfg.up_window_bytes = 16 * 1024;
    cfg.down_frames = 4;
    cfg.control_frames = 2;
    cfg.standing_max = cfg.children_max;
    return cfg;
}

void lab_open(struct lab *lab, struct ov_cfg cfg, uint32_t self)
{
    const char *why = "";

    ov_panic_set(on_panic);
    *lab = (struct lab){.cfg = cfg, .own_seq = 1, .wake_ns = OV_NEVER};
    if (ov_cfg_check(&lab->cfg, &why))
        fail_msg("%s", why);
    lab->out = malloc(sizeof(*lab->out));
    lab->mem = malloc(ov_node_size(&lab->cfg, self, 3));
    lab->cells = calloc(cfg.kept_max, sizeof(*lab->cells));
    assert_non_null(lab->out);
    lab->out->fold = cfg.folds ? calloc(1, sizeof(*lab->out->fold)) : NULL;
    assert_non_null(lab->mem);
    assert_non_null(lab->cells);
    ov_kept_lend(&lab->pool, lab->cells, cfg.kept_max);
    lab->node = ov_node_init(lab->mem, &lab->cfg, &lab->pool, self, 3, 1);
}

void lab_close(struct lab *lab)
{
    ov_node_fini(lab->node, lab->out);
    take_back(lab);
    free(lab->mem);
    free(lab->cells);
    free(lab->out->fold);
    free(lab->out);
    assert_int_equal(lab->bufs_live, 0);
}
