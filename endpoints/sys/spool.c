/* Blocks: filled in memory, saved to the file when full, read back into slots.
 *
 * A block that cannot be saved stays in memory, and is read from there: bytes
 * that were put are never lost because of a full disk. When all blocks of
 * memory are used, the spool is full.
 */
#include "config.h"

#include "endpoints/sys/spool.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/sys/spool_file.h"
#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"

enum {
    NONE = UINT32_MAX, /* the number of no block */
    NO_SLOT = -1,
    LOST = -2, /* the part was lost: it has neither a slot nor a pin */
    ASKED = -3,
    IOS_MAX = EP_SPOOL_MEM_BLOCKS + EP_SPOOL_READS + 1,
    BLOCKS_MAX = 1 << 22,
};

enum io_op { IO_FREE, IO_SAVE, IO_READ, IO_SHRINK };

enum slot_state {
    SLOT_FREE,
    SLOT_LOADING,
    SLOT_UNWANTED, /* the block is being read, but nobody needs it any longer */
    SLOT_READY,    /* the block was read, but not given to the caller yet */
    SLOT_TAKEN,
    SLOT_BAD, /* reading the block has failed */
};

/* Work for the thread; its index is the cookie of on_written(). */
struct io {
    struct ep_spool *sp;
    uint8_t *mem; /* memory of the block or slot; borrowed */
    uint64_t off_bytes;
    uint32_t len_bytes;
    uint32_t index; /* index of the block or slot */
    enum io_op op;
};

struct block {
    uint8_t *mem; /* owned; NULL: the block is only in the file */
    uint32_t fill_bytes;
    uint32_t live_bytes; /* bytes that were put and are not released */
    uint32_t pins;       /* number of parts that the caller reads from mem */
    uint32_t next_free;
    bool is_saving;
    bool is_saved;
    bool is_kept; /* the block is full, and will stay in memory */
};

struct slot {
    uint8_t *mem; /* owned, made when it is first used */
    struct ep_spool_ref ref;
    enum slot_state state;
    int err;
};

struct ep_spool {
    struct ep_spool_file file; /* used by the thread */
    struct ep_sink *sink;
    void (*on_change)(void *arg);
    void *arg;
    struct block *blocks; /* owned */
    uint32_t block_bytes;
    uint32_t blocks_max;
    uint32_t blocks_made; /* blocks from this number on were never used */
    uint32_t blocks_used;
    uint32_t first_free;
    uint32_t tail; /* number of the block that is being filled */
    uint32_t mem_blocks;
    uint32_t mem_blocks_max;
    /* Full blocks that stay in memory: when they are released soon, they need
     * not go to the file. */
    uint32_t kept_blocks;
    uint32_t kept_blocks_max;
    uint64_t live_bytes; /* live bytes of all blocks together */
    int err; /* errno for which the file cannot be used; 0: it can */
    bool is_file_used;
    struct slot slots[EP_SPOOL_READS];
    struct io ios[IOS_MAX];
};

static int io_main(void *arg)
{
    const struct io *io = arg;

    switch (io->op) {
    case IO_FREE:
        break;
    case IO_SAVE:
        return ep_spool_file_write(&io->sp->file, io->mem, io->len_bytes,
                                   io->off_bytes);
    case IO_READ:
        return ep_spool_file_read(&io->sp->file, io->mem, io->len_bytes,
                                  io->off_bytes);
    case IO_SHRINK:
        return ep_spool_file_shrink(&io->sp->file);
    }
    return EINVAL;
}

/* Gives work to the thread. Returns false when the thread cannot be made. */
static bool io_start(struct ep_spool *sp, enum io_op op, uint32_t index,
                     uint8_t *mem, uint64_t off_bytes, uint32_t len_bytes)
{
    uint32_t i = 0;

    while (i < IOS_MAX && sp->ios[i].op != IO_FREE)
        i++;
    OV_ASSERT(i < IOS_MAX);
    sp->ios[i] = (struct io){.sp = sp,
                             .mem = mem,
                             .off_bytes = off_bytes,
                             .len_bytes = len_bytes,
                             .index = index,
                             .op = op};
    if (ep_sink_call(sp->sink, io_main, &sp->ios[i], i) == 0)
        return true;
    sp->ios[i].op = IO_FREE;
    return false;
}

static void block_mem_free(struct ep_spool *sp, struct block *block)
{
    free(block->mem);
    block->mem = NULL;
    sp->mem_blocks--;
    if (block->is_kept)
        sp->kept_blocks--;
}

static void spool_emptied(struct ep_spool *sp)
{
    sp->err = 0; /* a disk that was full may have room again */
    for (int i = 0; i < EP_SPOOL_READS; i++) {
        if (sp->slots[i].state == SLOT_FREE) {
            free(sp->slots[i].mem);
            sp->slots[i].mem = NULL;
        }
    }
    if (sp->is_file_used)
        sp->is_file_used = !io_start(sp, IO_SHRINK, NONE, NULL, 0, 0);
}

/* Frees memory and place of a block as far as they are no longer needed. */
static void block_settle(struct ep_spool *sp, uint32_t index)
{
    struct block *block = &sp->blocks[index];

    if (block->is_saving || block->pins > 0)
        return;
    if (index == sp->tail) {
        if (block->live_bytes > 0)
            return;
        sp->tail = NONE;
    }
    if (block->mem != NULL && (block->is_saved || block->live_bytes == 0))
        block_mem_free(sp, block);
    if (block->live_bytes > 0)
        return;
    block->next_free = sp->first_free;
    sp->first_free = index;
    sp->blocks_used--;
    if (sp->blocks_used == 0)
        spool_emptied(sp);
}

bool ep_spool_is_saving(const struct ep_spool *sp)
{
    return sp->kept_blocks >= sp->kept_blocks_max;
}

/* Keeps a full block in memory, or saves it. The newest blocks are saved,
 * because bytes that were put first are read first. */
static void block_save(struct ep_spool *sp, uint32_t index)
{
    struct block *block = &sp->blocks[index];

    if (!ep_spool_is_saving(sp)) {
        block->is_kept = true;
        sp->kept_blocks++;
        return;
    }
    sp->is_file_used = true;
    block->is_saving =
        io_start(sp, IO_SAVE, index, block->mem,
                 (uint64_t)index * sp->block_bytes, block->fill_bytes);
    if (!block->is_saving)
        /* pthread_create() returns this when no thread can be made */
        sp->err = EAGAIN;
}

/* Returns whether a new block can be begun: 0, OV_EAGAIN or OV_EFULL. Blocks
 * whose bytes were all released exist only until they are saved, so on_change
 * follows. */
static int block_room(const struct ep_spool *sp)
{
    if (sp->err != 0 ||
        (sp->first_free == NONE && sp->blocks_made == sp->blocks_max))
        return sp->live_bytes > 0 ? OV_EFULL : OV_EAGAIN;
    return sp->mem_blocks < sp->mem_blocks_max ? 0 : OV_EAGAIN;
}

/* Begins a new block. Returns 0, OV_EAGAIN or OV_EFULL. */
static int block_new(struct ep_spool *sp)
{
    struct block *block;
    uint32_t index = sp->first_free;
    int rc = block_room(sp);

    if (rc != 0)
        return rc;
    if (index == NONE)
        index = sp->blocks_made;
    block = &sp->blocks[index];
    if (index == sp->blocks_made)
        sp->blocks_made++;
    else
        sp->first_free = block->next_free;
    *block = (struct block){.mem = malloc(sp->block_bytes)};
    if (block->mem == NULL) {
        block->next_free = sp->first_free;
        sp->first_free = index;
        return OV_EFULL;
    }
    sp->mem_blocks++;
    sp->blocks_used++;
    sp->tail = index;
    return 0;
}

static void slot_answer(struct slot *slot, int err)
{
    slot->err = err;
    if (slot->state == SLOT_UNWANTED)
        slot->state = SLOT_FREE;
    else
        slot->state = err == 0 ? SLOT_READY : SLOT_BAD;
}

static void io_end(struct ep_spool *sp, uint64_t cookie, int err)
{
    struct io *io = &sp->ios[cookie];
    const enum io_op op = io->op;

    io->op = IO_FREE;
    if (op == IO_SAVE) {
        sp->blocks[io->index].is_saving = false;
        sp->blocks[io->index].is_saved = err == 0;
        if (err != 0)
            sp->err = err;
        block_settle(sp, io->index);
    } else if (op == IO_READ) {
        slot_answer(&sp->slots[io->index], err);
    }
}

static void on_written(void *arg, uint64_t cookie)
{
    io_end(arg, cookie, 0);
}

static void on_failed(void *arg, uint64_t cookie, int err)
{
    io_end(arg, cookie, err);
}

static void on_batch_end(void *arg)
{
    struct ep_spool *sp = arg;

    sp->on_change(sp->arg);
}

static const struct ep_sink_events sink_events = {
    .on_written = on_written,
    .on_failed = on_failed,
    .on_batch_end = on_batch_end,
};

int ep_spool_open(struct ep_writer *w, const struct ep_spool_cfg *cfg,
                  struct ep_spool **out)
{
    struct ep_spool *sp = calloc(1, sizeof(*sp));
    uint64_t blocks;
    int rc;

    if (sp == NULL)
        return OV_ENOMEM;
    sp->on_change = cfg->on_change;
    sp->arg = cfg->arg;
    sp->first_free = NONE;
    sp->tail = NONE;
    sp->block_bytes =
        cfg->block_bytes > 0 ? cfg->block_bytes : EP_SPOOL_BLOCK_BYTES;
    sp->mem_blocks_max =
        cfg->mem_blocks > 0 ? cfg->mem_blocks : EP_SPOOL_MEM_BLOCKS;
    OV_ASSERT(sp->mem_blocks_max <= EP_SPOOL_MEM_BLOCKS);
    /* The two further blocks are the one being filled and the one being
     * saved. */
    sp->kept_blocks_max = sp->mem_blocks_max > 2 ? sp->mem_blocks_max - 2 : 0;
    sp->kept_blocks_max += cfg->kept_blocks;
    sp->mem_blocks_max += cfg->kept_blocks;
    blocks = cfg->limit_bytes / sp->block_bytes;
    sp->blocks_max =
        blocks < 1 ? 1 : (uint32_t)(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX);
    rc = ep_spool_file_init(&sp->file, cfg->dir);
    sp->file.memory_ok |= cfg->may_lie_in_memory;
    if (rc != 0) {
        free(sp);
        return rc;
    }
    sp->blocks = calloc(sp->blocks_max, sizeof(*sp->blocks));
    rc = sp->blocks == NULL
             ? OV_ENOMEM
             : ep_sink_open_shared(w, &sink_events, sp, &sp->sink);
    if (rc != 0) {
        ep_spool_close(sp);
        return rc;
    }
    *out = sp;
    return 0;
}

static void memory_free(struct ep_spool *sp)
{
    for (uint32_t i = 0; i < sp->blocks_made; i++)
        free(sp->blocks[i].mem);
    for (uint32_t i = 0; i < EP_SPOOL_READS; i++)
        free(sp->slots[i].mem);
    free(sp->blocks);
    *sp = (struct ep_spool){.file = sp->file};
}

/* Ends the spool in the thread, because removing a file may block. */
static void last_main(void *arg)
{
    struct ep_spool *sp = arg;

    memory_free(sp);
    ep_spool_file_fini(&sp->file);
    free(sp);
}

void ep_spool_close(struct ep_spool *sp)
{
    struct ep_sink *sink;

    if (sp == NULL)
        return;
    sink = sp->sink;
    if (sink == NULL) {
        last_main(sp);
        return;
    }
    /* This call is not left to the thread, which may block in a file of another
     * spool. */
    if (!ep_sink_drop(sink))
        memory_free(sp);
    ep_sink_leave(sink, last_main, sp);
}

static bool tail_has_room(const struct ep_spool *sp, uint64_t len_bytes)
{
    return sp->tail != NONE &&
           sp->blocks[sp->tail].fill_bytes + len_bytes <= sp->block_bytes;
}

int ep_spool_room(const struct ep_spool *sp, uint32_t len_bytes)
{
    return tail_has_room(sp, len_bytes) ? 0 : block_room(sp);
}

/* Makes room in the block that is being filled. Returns 0, OV_EAGAIN or
 * OV_EFULL. */
static int tail_ready(struct ep_spool *sp, uint64_t len_bytes)
{
    if (tail_has_room(sp, len_bytes))
        return 0;
    if (sp->tail != NONE)
        block_save(sp, sp->tail);
    sp->tail = NONE;
    return block_new(sp);
}

static void tail_add(struct ep_spool *sp, const void *mem, uint32_t len_bytes)
{
    struct block *block = &sp->blocks[sp->tail];

    if (len_bytes > 0)
        memcpy(block->mem + block->fill_bytes, mem, len_bytes);
    block->fill_bytes += len_bytes;
    block->live_bytes += len_bytes;
    sp->live_bytes += len_bytes;
}

static struct ep_spool_ref tail_ref(const struct ep_spool *sp,
                                    uint32_t len_bytes)
{
    return (struct ep_spool_ref){.block = sp->tail,
                                 .off_bytes = sp->blocks[sp->tail].fill_bytes,
                                 .len_bytes = len_bytes,
                                 .slot = NO_SLOT};
}

int ep_spool_put(struct ep_spool *sp, const void *head, uint32_t head_bytes,
                 const void *body, uint32_t body_bytes,
                 struct ep_spool_ref *out)
{
    const uint64_t len = (uint64_t)head_bytes + body_bytes;
    int rc;

    if (len == 0 || len > sp->block_bytes)
        return OV_EINVAL;
    rc = tail_ready(sp, len);
    if (rc != 0)
        return rc;
    *out = tail_ref(sp, (uint32_t)len);
    tail_add(sp, head, head_bytes);
    tail_add(sp, body, body_bytes);
    return 0;
}

int ep_spool_put_some(struct ep_spool *sp, const void *mem, uint32_t len_bytes,
                      struct ep_spool_ref *out)
{
    uint32_t left;
    int rc;

    if (len_bytes == 0)
        return OV_EINVAL;
    rc = tail_ready(sp, 1);
    if (rc != 0)
        return rc;
    left = sp->block_bytes - sp->blocks[sp->tail].fill_bytes;
    *out = tail_ref(sp, len_bytes < left ? len_bytes : left);
    tail_add(sp, mem, out->len_bytes);
    return 0;
}

int ep_spool_errno(const struct ep_spool *sp)
{
    return sp->err;
}

static bool is_same(const struct ep_spool_ref *a, const struct ep_spool_ref *b)
{
    return a->block == b->block && a->off_bytes == b->off_bytes &&
           a->len_bytes == b->len_bytes;
}

/* Returns the slot that has the part or will get it; NULL: all slots are in
 * use. */
static struct slot *slot_find(struct ep_spool *sp,
                              const struct ep_spool_ref *ref)
{
    struct slot *unused = NULL;

    for (int i = 0; i < EP_SPOOL_READS; i++) {
        struct slot *slot = &sp->slots[i];

        if (slot->state == SLOT_FREE)
            unused = slot;
        else if (slot->state != SLOT_TAKEN && slot->state != SLOT_UNWANTED &&
                 is_same(&slot->ref, ref))
            return slot;
    }
    return unused;
}

static int slot_load(struct ep_spool *sp, struct slot *slot,
                     const struct ep_spool_ref *ref)
{
    if (slot->mem == NULL)
        slot->mem = malloc(sp->block_bytes);
    if (slot->mem == NULL) {
        errno = ENOMEM;
        return OV_ESYS;
    }
    slot->ref = *ref;
    slot->state = SLOT_LOADING;
    if (!io_start(sp, IO_READ, (uint32_t)(slot - sp->slots), slot->mem,
                  (uint64_t)ref->block * sp->block_bytes + ref->off_bytes,
                  ref->len_bytes)) {
        slot->state = SLOT_FREE;
        errno = EAGAIN;
        return OV_ESYS;
    }
    return OV_EAGAIN;
}

int ep_spool_get(struct ep_spool *sp, struct ep_spool_ref *ref,
                 const uint8_t **mem)
{
    struct block *block = &sp->blocks[ref->block];
    struct slot *slot;
    int rc;

    if (block->mem != NULL) {
        block->pins++;
        ref->slot = NO_SLOT;
        *mem = block->mem + ref->off_bytes;
        return 0;
    }
    slot = slot_find(sp, ref);
    ref->slot = ASKED;
    if (slot == NULL || slot->state == SLOT_LOADING)
        return OV_EAGAIN;
    if (slot->state == SLOT_FREE) {
        rc = slot_load(sp, slot, ref);
        if (rc == OV_ESYS)
            ref->slot = LOST;
        return rc;
    }
    if (slot->state == SLOT_BAD) {
        slot->state = SLOT_FREE;
        ref->slot = LOST;
        errno = slot->err;
        return OV_ESYS;
    }
    slot->state = SLOT_TAKEN;
    ref->slot = (int32_t)(slot - sp->slots);
    *mem = slot->mem;
    return 0;
}

/* Withdraws the request for a part. */
static void ask_end(struct ep_spool *sp, const struct ep_spool_ref *ref)
{
    struct slot *slot = slot_find(sp, ref);

    if (slot == NULL || slot->state == SLOT_FREE)
        return;
    slot->state = slot->state == SLOT_LOADING ? SLOT_UNWANTED : SLOT_FREE;
}

void ep_spool_let_go(struct ep_spool *sp, const struct ep_spool_ref *ref)
{
    struct block *block = &sp->blocks[ref->block];

    if (ref->slot == NO_SLOT) {
        OV_ASSERT(block->pins > 0);
        block->pins--;
        block_settle(sp, ref->block);
    } else if (ref->slot == ASKED) {
        ask_end(sp, ref);
    } else if (ref->slot != LOST) {
        OV_ASSERT(sp->slots[ref->slot].state == SLOT_TAKEN);
        sp->slots[ref->slot].state = SLOT_FREE;
    }
}

void ep_spool_forget(struct ep_spool *sp, const struct ep_spool_ref *ref)
{
    struct block *block = &sp->blocks[ref->block];

    OV_ASSERT(block->live_bytes >= ref->len_bytes);
    block->live_bytes -= ref->len_bytes;
    sp->live_bytes -= ref->len_bytes;
    block_settle(sp, ref->block);
}

void ep_spool_release(struct ep_spool *sp, const struct ep_spool_ref *ref)
{
    ep_spool_let_go(sp, ref);
    ep_spool_forget(sp, ref);
}
