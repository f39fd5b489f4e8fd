/* An unlinked temporary file, used by one thread that may block. */
#ifndef ENDPOINTS_SYS_SPOOL_FILE_H
#define ENDPOINTS_SYS_SPOOL_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct ep_spool_file {
    char *dirs[2];  /* owned; folders, tried in order */
    int fd;         /* -1 before the first write */
    bool memory_ok; /* the folders may lie in memory */
};

/* Prepares the file in folder `dir`; NULL: in $TMPDIR, then in /var/tmp. Makes
 * no file yet. Returns 0 or OV_ENOMEM. */
int ep_spool_file_init(struct ep_spool_file *file, const char *dir);
void ep_spool_file_fini(struct ep_spool_file *file);

/* Returns 0 when a file can be made in this folder, or the errno that a first
 * write would return. May block; leaves no file behind. */
int ep_spool_file_probe(const char *dir);

/* These return 0 or an errno, and may block. A first write that cannot make the
 * file in any folder returns the errno of the last one, or ENOTSUP when only
 * folders in memory were found. A read past the end returns EIO. */
int ep_spool_file_write(struct ep_spool_file *file, const uint8_t *mem,
                        uint32_t len_bytes, uint64_t off_bytes);
int ep_spool_file_read(struct ep_spool_file *file, uint8_t *mem,
                       uint32_t len_bytes, uint64_t off_bytes);
/* Frees all disk blocks of the file. */
int ep_spool_file_shrink(struct ep_spool_file *file);

#endif
