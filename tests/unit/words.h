/* Frames as words and back: the language of tests/unit/lab.h. */
#ifndef TESTS_UNIT_WORDS_H
#define TESTS_UNIT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "overlay/wire/frame.h"

/* Writes the words of a frame; what does not decode is "?". */
void words_of_frame(const uint8_t *mem, uint32_t len_bytes, char *words,
                    size_t room);

/* Builds the frame that the words describe; fails the test when they are none.
 * *control_seq counts the frames of stream 0. Returns its length. */
uint32_t words_to_frame(const char *words, uint64_t *control_seq, uint8_t *mem,
                        uint32_t cap_bytes);

/* Payload that tells its source (or stream) and number, and the check. */
void words_fill(const struct ov_record *rec, uint8_t *mem);
bool words_are_in_place(const struct ov_record *rec, const uint8_t *mem);

#endif
