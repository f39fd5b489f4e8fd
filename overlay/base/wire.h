/* Little-endian readers and writers for bytes on the wire.
 *
 * After the first read or write past the end `bad` is set: from then on reads
 * return 0, and writes do nothing. So it is enough to check `bad` once, after
 * all reads or writes.
 */
#ifndef OVERLAY_BASE_WIRE_H
#define OVERLAY_BASE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ov_rd {
    const uint8_t *at; /* borrowed */
    const uint8_t *end;
    bool bad;
};

struct ov_wr {
    uint8_t *at; /* borrowed */
    uint8_t *end;
    bool bad;
};

static inline struct ov_rd ov_rd_init(const uint8_t *mem, size_t len_bytes)
{
    return (struct ov_rd){.at = mem, .end = mem + len_bytes};
}

static inline struct ov_wr ov_wr_init(uint8_t *mem, size_t len_bytes)
{
    return (struct ov_wr){.at = mem, .end = mem + len_bytes};
}

static inline size_t ov_rd_left(const struct ov_rd *rd)
{
    return (size_t)(rd->end - rd->at);
}

/* Reads the next len_bytes: returns a pointer into the reader's memory, or NULL
 * when fewer are left. */
static inline const uint8_t *ov_rd_bytes(struct ov_rd *rd, size_t len_bytes)
{
    const uint8_t *at = rd->at;

    if (ov_rd_left(rd) < len_bytes) {
        rd->bad = true;
        rd->at = rd->end;
        return NULL;
    }
    rd->at += len_bytes;
    return at;
}

static inline uint64_t ov_rd_uint(struct ov_rd *rd, unsigned width_bytes)
{
    const uint8_t *at = ov_rd_bytes(rd, width_bytes);
    uint64_t value = 0;

    if (at == NULL)
        return 0;
    for (unsigned i = width_bytes; i > 0; i--)
        value = value << 8 | at[i - 1];
    return value;
}

static inline uint8_t ov_rd_u8(struct ov_rd *rd)
{
    return (uint8_t)ov_rd_uint(rd, 1);
}

static inline uint16_t ov_rd_u16(struct ov_rd *rd)
{
    return (uint16_t)ov_rd_uint(rd, 2);
}

static inline uint32_t ov_rd_u32(struct ov_rd *rd)
{
    return (uint32_t)ov_rd_uint(rd, 4);
}

static inline uint64_t ov_rd_u64(struct ov_rd *rd)
{
    return ov_rd_uint(rd, 8);
}

/* Returns the bytes up to the next NUL, borrowed from the reader's memory, and
 * moves past the NUL; returns "" when there is no NUL. O(bytes). */
static inline const char *ov_rd_string(struct ov_rd *rd)
{
    const char *string = (const char *)rd->at;
    const void *nul = NULL;

    if (!rd->bad && ov_rd_left(rd) > 0)
        nul = memchr(rd->at, '\0', ov_rd_left(rd));
    if (nul == NULL) {
        rd->bad = true;
        rd->at = rd->end;
        return "";
    }
    rd->at = (const uint8_t *)nul + 1;
    return string;
}

/* Advances the writer by len_bytes and returns the start of that room, which
 * the caller fills; NULL when there is too little. */
static inline uint8_t *ov_wr_room(struct ov_wr *wr, size_t len_bytes)
{
    uint8_t *at = wr->at;

    if (wr->bad || (size_t)(wr->end - wr->at) < len_bytes) {
        wr->bad = true;
        return NULL;
    }
    wr->at += len_bytes;
    return at;
}

static inline void ov_wr_bytes(struct ov_wr *wr, const void *mem,
                               size_t len_bytes)
{
    uint8_t *at = ov_wr_room(wr, len_bytes);

    if (at != NULL && len_bytes > 0)
        memcpy(at, mem, len_bytes);
}

static inline void ov_wr_uint(struct ov_wr *wr, uint64_t value,
                              unsigned width_bytes)
{
    uint8_t *at = ov_wr_room(wr, width_bytes);

    for (unsigned i = 0; at != NULL && i < width_bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static inline void ov_wr_u8(struct ov_wr *wr, uint8_t value)
{
    ov_wr_uint(wr, value, 1);
}

static inline void ov_wr_u16(struct ov_wr *wr, uint16_t value)
{
    ov_wr_uint(wr, value, 2);
}

static inline void ov_wr_u32(struct ov_wr *wr, uint32_t value)
{
    ov_wr_uint(wr, value, 4);
}

static inline void ov_wr_u64(struct ov_wr *wr, uint64_t value)
{
    ov_wr_uint(wr, value, 8);
}

#endif
