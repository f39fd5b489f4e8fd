/* Keeps the last output of all processes together. */
#include "endpoints/run/recent.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "overlay/base/err.h"

enum {
    SCREEN_BYTES = 4096, /* some 50 lines of 80 columns */
};

/* The head of an entry of the ring; its bytes follow. */
struct entry {
    uint32_t rank;
    uint32_t len_bytes;
    /* how many bytes of output had come with this record; 0: it was not shown
     */
    uint64_t end;
};

struct run_recent {
    uint64_t output_bytes; /* how many bytes of output have come */
    /* The positions of the ring's first and last bytes, as counts of bytes
     * since the start. */
    uint64_t head, tail;
    uint8_t ring[RUN_RECENT_BYTES];
    /* the last bytes of the process that has failed, and their position */
    uint64_t kept_end;
    uint32_t kept_rank;
    bool has_kept;
    uint32_t kept_bytes;
    uint8_t kept[RUN_RECENT_KEPT_BYTES];
};

int ep_recent_open(struct run_recent **out)
{
    *out = calloc(1, sizeof(**out));
    return *out == NULL ? OV_ENOMEM : 0;
}

void ep_recent_close(struct run_recent *recent)
{
    free(recent);
}

/* --- the ring */

static void put(struct run_recent *recent, const void *mem, size_t len_bytes)
{
    const size_t at = recent->head % RUN_RECENT_BYTES;
    const size_t room = RUN_RECENT_BYTES - at;
    const size_t first = len_bytes < room ? len_bytes : room;

    memcpy(recent->ring + at, mem, first);
    memcpy(recent->ring, (const uint8_t *)mem + first, len_bytes - first);
    recent->head += len_bytes;
}

static void get(const struct run_recent *recent, uint64_t from, void *mem,
                size_t len_bytes)
{
    const size_t at = from % RUN_RECENT_BYTES;
    const size_t room = RUN_RECENT_BYTES - at;
    const size_t first = len_bytes < room ? len_bytes : room;

    memcpy(mem, recent->ring + at, first);
    memcpy((uint8_t *)mem + first, recent->ring, len_bytes - first);
}

static uint64_t get_entry(const struct run_recent *recent, uint64_t from,
                          struct entry *out)
{
    get(recent, from, out, sizeof(*out));
    return from + sizeof(*out) + out->len_bytes;
}

static void add(struct run_recent *recent, struct entry entry,
                const uint8_t *mem)
{
    struct entry oldest;

    while (recent->head + sizeof(entry) + entry.len_bytes - recent->tail >
           RUN_RECENT_BYTES)
        recent->tail = get_entry(recent, recent->tail, &oldest);
    put(recent, &entry, sizeof(entry));
    put(recent, mem, entry.len_bytes);
}

void ep_recent_add(struct run_recent *recent, uint32_t rank, const uint8_t *mem,
                   uint32_t len_bytes)
{
    const uint32_t some =
        len_bytes < RUN_RECENT_KEPT_BYTES ? len_bytes : RUN_RECENT_KEPT_BYTES;

    if (len_bytes == 0) /* the record is only the end of a channel */
        return;
    recent->output_bytes += len_bytes;
    add(recent, (struct entry){rank, some, recent->output_bytes},
        mem + (len_bytes - some));
}

void ep_recent_add_unseen(struct run_recent *recent, uint32_t rank,
                          const uint8_t *mem, uint32_t len_bytes)
{
    add(recent, (struct entry){rank, len_bytes, 0}, mem);
}

/* --- the lines of one process */

/* Appends the bytes of an entry; the oldest bytes are dropped to make room. */
static void append(struct run_recent *recent, uint64_t from, uint32_t len_bytes)
{
    const uint32_t room = RUN_RECENT_KEPT_BYTES - recent->kept_bytes;

    if (len_bytes > room) {
        const uint32_t gone = len_bytes - room;

        recent->kept_bytes -= gone;
        memmove(recent->kept, recent->kept + gone, recent->kept_bytes);
    }
    get(recent, from, recent->kept + recent->kept_bytes, len_bytes);
    recent->kept_bytes += len_bytes;
}

void ep_recent_keep(struct run_recent *recent, uint32_t rank)
{
    struct entry entry;

    if (recent->has_kept && recent->kept_rank == rank)
        return;
    recent->has_kept = true;
    recent->kept_rank = rank;
    recent->kept_bytes = 0;
    recent->kept_end = UINT64_MAX;
    for (uint64_t at = recent->tail, next; at < recent->head; at = next) {
        next = get_entry(recent, at, &entry);
        if (entry.rank != rank)
            continue;
        /* what was not shown has all that was shown in it */
        if (entry.end == 0 && recent->kept_end != 0)
            recent->kept_bytes = 0;
        append(recent, at + sizeof(entry), entry.len_bytes);
        recent->kept_end = entry.end;
    }
}

/* Returns where the last lines begin. A line whose beginning is missing is
 * skipped, unless it is the only one. */
static uint32_t find_first(const struct run_recent *recent, unsigned most)
{
    uint32_t at = recent->kept_bytes, lines = 0, first = 0;

    while (at > 0 && lines < most) {
        at--;
        if (at + 1 < recent->kept_bytes && recent->kept[at] == '\n') {
            first = at + 1;
            lines++;
        }
    }
    return lines < most && recent->kept_bytes < RUN_RECENT_KEPT_BYTES ? 0
                                                                      : first;
}

static void put_line(const uint8_t *mem, uint32_t len_bytes,
                     void (*line)(void *arg, const char *text), void *arg)
{
    char text[RUN_RECENT_LINE_MAX + 1];
    uint32_t len = 0;

    for (; len < len_bytes && len < RUN_RECENT_LINE_MAX; len++)
        text[len] = mem[len] < ' ' || mem[len] == 0x7f ? '.' : (char)mem[len];
    text[len] = '\0';
    line(arg, text);
}

unsigned ep_recent_lines(const struct run_recent *recent, unsigned most,
                         void (*line)(void *arg, const char *text), void *arg)
{
    unsigned count = 0;
    uint32_t at = find_first(recent, most);

    while (at < recent->kept_bytes) {
        const uint8_t *mem = recent->kept + at;
        const uint8_t *end = memchr(mem, '\n', recent->kept_bytes - at);
        const uint32_t len =
            end != NULL ? (uint32_t)(end - mem) : recent->kept_bytes - at;

        put_line(mem, len, line, arg);
        count++;
        at += len + 1;
    }
    return count;
}

unsigned ep_recent_show(const struct run_recent *recent,
                        void (*line)(void *arg, const char *text), void *arg)
{
    const unsigned most =
        isatty(STDERR_FILENO) ? RUN_RECENT_SCREEN_LINES : RUN_RECENT_LINES;

    if (recent->kept_end != 0 &&
        recent->output_bytes - recent->kept_end < SCREEN_BYTES)
        return 0;
    return ep_recent_lines(recent, most, line, arg);
}
