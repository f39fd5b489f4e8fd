/* Memory that the launcher and its PMIx helper share. */
#include "config.h"

#include "pmix_api/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "overlay/base/err.h"

enum { HEAD_BYTES = 64 * 1024 }; /* a page, however large one is */

struct px_share_head {
    _Atomic uint64_t read;   /* written by the helper */
    _Atomic uint64_t wanted; /* what it is to read before it says so; 0: nothing
                                is to be said */
    struct {                 /* by the helper */
        _Atomic uint32_t pull; /* 0: none */
        _Atomic uint64_t sent, read;
    } settled[PX_SHARE_SLOTS];
};

_Static_assert(sizeof(struct px_share_head) <= HEAD_BYTES, "it has no room");

static int map(struct px_share *share, int fd, int access)
{
    void *head =
        mmap(NULL, HEAD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    void *mem = mmap(NULL, PX_SHARE_BYTES, access, MAP_SHARED, fd, HEAD_BYTES);

    *share = (struct px_share){.head = NULL};
    if (head != MAP_FAILED && mem != MAP_FAILED) {
        share->head = head;
        share->mem = mem;
        return 0;
    }
    if (head != MAP_FAILED)
        munmap(head, HEAD_BYTES);
    if (mem != MAP_FAILED)
        munmap(mem, PX_SHARE_BYTES);
    return OV_ESYS;
}

int px_share_make(struct px_share *share, int *fd)
{
    int made = memfd_create("xylem-pmix", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    *share = (struct px_share){.head = NULL};
    if (made < 0)
        return OV_ESYS;
    /* Sealed: nobody can take away what is mapped. */
    if (ftruncate(made, HEAD_BYTES + PX_SHARE_BYTES) != 0 ||
        fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
            0 ||
        map(share, made, PROT_READ | PROT_WRITE) != 0) {
        int err = errno;

        close(made);
        errno = err;
        return OV_ESYS;
    }
    *fd = made;
    return 0;
}

int px_share_take(struct px_share *share, int fd)
{
    return map(share, fd, PROT_READ);
}

void px_share_close(struct px_share *share)
{
    if (share->head != NULL) {
        munmap(share->head, HEAD_BYTES);
        munmap(share->mem, PX_SHARE_BYTES);
    }
    *share = (struct px_share){.head = NULL};
}

/* How far the helper has read, as far as it can be. */
static void look_back(struct px_share *share)
{
    uint64_t read = atomic_load(&share->head->read);

    if (read > share->read && read <= share->next)
        share->read = read;
}

static uint64_t round_up(uint64_t at)
{
    return (at + PX_SHARE_BYTES - 1) / PX_SHARE_BYTES * PX_SHARE_BYTES;
}

bool px_share_put(struct px_share *share, const void *mem, uint32_t len_bytes,
                  uint64_t *at)
{
    uint64_t next = share->next;

    if (share->head == NULL)
        return false;
    look_back(share);
    if (share->read == next ||
        next % PX_SHARE_BYTES + len_bytes > PX_SHARE_BYTES)
        next = round_up(next);
    if (share->read == share->next)
        share->read = next;
    if (next + len_bytes - share->read > PX_SHARE_BYTES)
        return false;
    memcpy(share->mem + next % PX_SHARE_BYTES, mem, len_bytes);
    *at = next;
    share->next = next + len_bytes;
    return true;
}

/* Who writes his own number first and then looks at the other's, as both do,
 * cannot miss it. */
bool px_share_await(struct px_share *share)
{
    uint64_t half;

    if (share->head == NULL || share->next <= PX_SHARE_BYTES / 2)
        return false;
    half = share->next - PX_SHARE_BYTES / 2;
    atomic_store(&share->head->wanted, half);
    look_back(share);
    return share->read < half;
}

const uint8_t *px_share_look(const struct px_share *share, uint64_t at,
                             uint32_t len_bytes)
{
    uint64_t offset = at % PX_SHARE_BYTES;

    if (share->head == NULL || len_bytes > PX_SHARE_BYTES - offset)
        return NULL;
    return share->mem + offset;
}

bool px_share_free(struct px_share *share, uint64_t end)
{
    uint64_t wanted;

    atomic_store(&share->head->read, end);
    wanted = atomic_load(&share->head->wanted);
    if (wanted == 0 || end < wanted)
        return false;
    atomic_store(&share->head->wanted, 0);
    return true;
}

/* Who reads finds the state of the pull that has the slot before and after.
 * Either of the two may be newer than the other: `read` does not go back, nor
 * `sent`, but once to `read`. */
void px_share_settle(struct px_share *share, unsigned slot, uint32_t pull,
                     struct px_share_state state)
{
    if (share->head == NULL)
        return;
    if (atomic_load(&share->head->settled[slot].pull) != pull)
        atomic_store(&share->head->settled[slot].pull, 0);
    atomic_store(&share->head->settled[slot].sent, state.sent);
    atomic_store(&share->head->settled[slot].read, state.read);
    atomic_store(&share->head->settled[slot].pull, pull);
}

static bool look_at(const struct px_share *share, uint32_t pull, unsigned slot,
                    struct px_share_state *state)
{
    struct px_share_state found;

    if (atomic_load(&share->head->settled[slot].pull) != pull)
        return false;
    found.sent = atomic_load(&share->head->settled[slot].sent);
    found.read = atomic_load(&share->head->settled[slot].read);
    if (atomic_load(&share->head->settled[slot].pull) != pull)
        return false;
    *state = found;
    return true;
}

bool px_share_settled(const struct px_share *share, uint32_t pull,
                      unsigned *slot, struct px_share_state *state)
{
    if (share->head == NULL)
        return false;
    for (unsigned i = 0; i < PX_SHARE_SLOTS; i++) {
        unsigned at = (*slot + i) % PX_SHARE_SLOTS;

        if (!look_at(share, pull, at, state))
            continue;
        *slot = at;
        return true;
    }
    return false;
}
