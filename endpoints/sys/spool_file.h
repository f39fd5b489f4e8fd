/* An unlinked temporary file, for one thread that may wait for it. */
#ifndef ENDPOINTS_SYS_SPOOL_FILE_H
#define ENDPOINTS_SYS_SPOOL_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct ep_spool_file {
    char *dirs[2];  /* owned; tried in order */
    int fd;         /* -1 until the first write */
    bool memory_ok; /* the dirs may lie in memory */
};

/* `dir` NULL: $TMPDIR, then /var/tmp. Makes no file yet. Returns 0 or
 * OV_ENOMEM. */
int ep_spool_file_init(struct ep_spool_file *file, const char *dir);
void ep_spool_file_fini(struct ep_spool_file *file);

/* Says whether a file can be made there: 0 or an errno, like a first write. May
 * block; leaves nothing behind. */
int ep_spool_file_probe(const char *dir);

/* These return 0 or an errno, and may block. A first write that can make the
 * file nowhere returns the errno of the last place, or ENOTSUP when only places
 * in memory were found. A read past the end is EIO. */
int ep_spool_file_write(struct ep_spool_file *file, const uint8_t *mem,
                        uint32_t len_bytes, uint64_t off_bytes);
int ep_spool_file_read(struct ep_spool_file *file, uint8_t *mem,
                       uint32_t len_bytes, uint64_t off_bytes);
/* Gives all blocks of the disk back. */
int ep_spool_file_shrink(struct ep_spool_file *file);

#endif
