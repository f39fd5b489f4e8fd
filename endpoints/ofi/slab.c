/* Registered buffers, in slabs. */
#include "endpoints/ofi/slab.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLAB_POISON 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SLAB_POISON 1
#endif
#ifdef SLAB_POISON
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(mem, len)   ((void)(mem), (void)(len))
#define ASAN_UNPOISON_MEMORY_REGION(mem, len) ((void)(mem), (void)(len))
#endif

enum {
    SLAB_BYTES = 512 * 1024,
    SLAB_FRAMES_MIN = 4,
    /* The smallest page size of any system; most short messages fit into it. */
    PAGE_BYTES = 4096,
};

struct ep_slab {
    struct ep_slab *next; /* owned */
    struct fid_mr *mr;
    uint8_t *mem;
    size_t mem_bytes;
    void *desc;
    struct ep_frame frames[];
};

static size_t round_up(size_t value, size_t step)
{
    return (value + step - 1) / step * step;
}

static void slab_free(struct ep_slab *slab)
{
    if (slab->mr)
        fi_close(&slab->mr->fid);
    if (slab->mem) {
        ASAN_UNPOISON_MEMORY_REGION(slab->mem, slab->mem_bytes);
        munmap(slab->mem, slab->mem_bytes);
    }
    free(slab);
}

/* Maps and registers a slab. With huge pages the first byte of one buffer would
 * make every buffer of the slab resident. */
static struct ep_slab *slab_new(struct ep_transport *t, size_t frames,
                                size_t stride)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct ep_slab *slab =
        calloc(1, sizeof(*slab) + frames * sizeof(slab->frames[0]));
    void *mem;

    if (slab == NULL)
        return NULL;
    slab->mem_bytes = round_up(frames * stride, page);
    mem = mmap(NULL, slab->mem_bytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mem == MAP_FAILED)
        goto fail;
    slab->mem = mem;
    (void)madvise(mem, slab->mem_bytes, MADV_NOHUGEPAGE);
    if (fi_mr_reg(t->domain, mem, slab->mem_bytes, FI_SEND | FI_RECV, 0,
                  ++t->slabs.mr_key, 0, &slab->mr, NULL)) {
        slab->mr = NULL;
        goto fail;
    }
    slab->desc = fi_mr_desc(slab->mr);
    return slab;

fail:
    slab_free(slab);
    return NULL;
}

static bool slab_grow(struct ep_transport *t)
{
    size_t stride = round_up(t->cfg.frame_bytes, 64);
    size_t frames = SLAB_BYTES / stride;
    struct ep_slab *slab;

    if (frames < SLAB_FRAMES_MIN)
        frames = SLAB_FRAMES_MIN;
    slab = slab_new(t, frames, stride);
    if (slab == NULL)
        return false;
    slab->next = t->slabs.all;
    t->slabs.all = slab;
    ASAN_POISON_MEMORY_REGION(slab->mem, slab->mem_bytes);
    for (size_t i = frames; i > 0; i--) {
        struct ep_frame *frame = &slab->frames[i - 1];

        frame->slab = slab;
        frame->pub.mem = slab->mem + (i - 1) * stride;
        frame->pub.cap_bytes = t->cfg.frame_bytes;
        frame->is_clean = true;
        frame->pub.next = t->slabs.clean;
        t->slabs.clean = &frame->pub;
    }
    t->stats.buffers_made += frames;
    return true;
}

static struct ov_buf *take(struct ep_transport *t, struct ov_buf **list)
{
    struct ov_buf *buf = *list;

    *list = buf->next;
    buf->next = NULL;
    buf->refs = 1;
    buf->len_bytes = 0;
    ASAN_UNPOISON_MEMORY_REGION(buf->mem, buf->cap_bytes);
    t->stats.buffers_live++;
    return buf;
}

/* Returns a free buffer, a clean one if there is no other. A clean buffer that
 * is taken for any use counts as touched. */
struct ov_buf *ep_slab_get(struct ep_transport *t)
{
    struct ov_buf *buf;

    if (t->slabs.used != NULL)
        return take(t, &t->slabs.used);
    if (t->slabs.clean == NULL && !slab_grow(t))
        return NULL;
    buf = take(t, &t->slabs.clean);
    ((struct ep_frame *)buf)->is_clean = false;
    return buf;
}

/* Gives back to the system all pages that begin after the first page of the
 * buffer. */
static void wipe(struct ov_buf *buf)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *end = buf->mem + buf->cap_bytes;
    size_t past = (size_t)((uintptr_t)end % page);
    uint8_t *from = buf->mem + page;

    from += (page - (uintptr_t)from % page) % page;
    end -= past;
    if (from < end)
        (void)madvise(from, (size_t)(end - from), MADV_DONTNEED);
}

struct ov_buf *ep_slab_get_clean(struct ep_transport *t)
{
    struct ov_buf *buf;

    if (t->is_pinned)
        return ep_slab_get(t);
    if (t->slabs.clean == NULL && t->slabs.used != NULL) {
        buf = take(t, &t->slabs.used);
        wipe(buf);
        ((struct ep_frame *)buf)->is_clean = true;
        return buf;
    }
    if (t->slabs.clean == NULL && !slab_grow(t))
        return NULL;
    return take(t, &t->slabs.clean);
}

void ep_slab_put(struct ep_transport *t, struct ov_buf *buf)
{
    struct ep_frame *frame = (struct ep_frame *)buf;
    struct ov_buf **list;

    OV_ASSERT(buf->refs == 0);
    OV_ASSERT(t->stats.buffers_live > 0);
    ASAN_POISON_MEMORY_REGION(buf->mem, buf->cap_bytes);
    t->stats.buffers_live--;
    frame->is_clean = frame->is_clean && buf->len_bytes <= PAGE_BYTES;
    list = frame->is_clean ? &t->slabs.clean : &t->slabs.used;
    buf->next = *list;
    *list = buf;
}

void ep_slab_unref(struct ep_transport *t, struct ov_buf *buf)
{
    if (ov_buf_unref(buf))
        ep_slab_put(t, buf);
}

void *ep_slab_desc(const struct ov_buf *buf)
{
    return ((const struct ep_frame *)buf)->slab->desc;
}

void ep_slab_close(struct ep_transport *t)
{
    struct ep_slab *slab;

    while ((slab = t->slabs.all) != NULL) {
        t->slabs.all = slab->next;
        slab_free(slab);
    }
    t->slabs.used = NULL;
    t->slabs.clean = NULL;
}
