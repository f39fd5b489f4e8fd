/* Labels at the start of lines: "3: ", "node7: ", "[job,3]<stdout>: ".
 *
 * Pure: no state but the caller's.
 */
#ifndef ENDPOINTS_CONSOLE_LABEL_H
#define ENDPOINTS_CONSOLE_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ep_label_mode {
    EP_LABEL_NONE,
    EP_LABEL_RANK, /* RANK:  */
    EP_LABEL_HOST, /* HOST:  */
    EP_LABEL_FULL, /* [NSPACE,RANK]<stdout>:  */
    EP_LABEL_MODES
};

enum {
    EP_CHANNEL_STDOUT = 1,
    EP_CHANNEL_STDERR = 2,
    EP_LABEL_NAME_MAX = 255, /* longer host and job names are cut */
    EP_LABEL_MAX = EP_LABEL_NAME_MAX + 32,
};

/* The rank of what is no process's, but a tool's: "tool: ", "[job,tool]". */
#define EP_CONSOLE_TOOL (UINT32_MAX - 1)

struct ep_label {
    uint32_t len_bytes;
    char text[EP_LABEL_MAX];
};

/* Makes the label of one source. Names may be NULL ("?"). */
void ep_label_make(struct ep_label *label, enum ep_label_mode mode,
                   const char *nspace, const char *host, uint32_t rank,
                   uint8_t channel);

/* Copies bytes from *src (up to `end`) to dst, with the label at the start of
 * each line, until either is used up; *src moves on. `mid_line` says whether
 * dst's last byte before was inside a line, and is kept. A label is put whole
 * or not at all, and never at the end of the room.
 *
 * Cost: one memchr and two copies a line. Returns the bytes put.
 */
size_t ep_label_lines(const struct ep_label *label, bool *mid_line,
                      const uint8_t **src, const uint8_t *end, uint8_t *dst,
                      size_t room_bytes);

#endif
