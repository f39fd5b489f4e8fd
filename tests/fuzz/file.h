/* Files for decoders that open some. */
#ifndef TESTS_FUZZ_FILE_H
#define TESTS_FUZZ_FILE_H

#include <stddef.h>

/* The path of a file with these bytes, which is there until the next call. */
const char *fuzz_file(const char *mem, size_t len_bytes);

/* A folder of this process's own, which is gone with it: in memory, where there
 * is a place for that. Its files are to be few. */
const char *fuzz_folder(void);

/* A file of that folder gets these bytes; `name` may have folders in it, which
 * are made where they are not there. */
void fuzz_folder_put(const char *name, const char *mem, size_t len_bytes);

#endif
