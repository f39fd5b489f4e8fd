/* Files for decoders that read files. */
#ifndef TESTS_FUZZ_FILE_H
#define TESTS_FUZZ_FILE_H

#include <stddef.h>

/* Returns the path of a file with these bytes; the file exists until the next
 * call. */
const char *fuzz_file(const char *mem, size_t len_bytes);

/* Returns a folder of this process, which is removed when the process ends. It
 * lies in memory where possible, so it should hold few files. */
const char *fuzz_folder(void);

/* Writes these bytes into a file of that folder. `name` may contain folders,
 * which are made if they do not exist. */
void fuzz_folder_put(const char *name, const char *mem, size_t len_bytes);

#endif
