/* Frames as words and back; tests/unit/lab.h describes the language. */
#ifndef TESTS_UNIT_WORDS_H
#define TESTS_UNIT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "overlay/wire/frame.h"

/* Writes the words of a frame, or "?" when it does not decode. */
void words_of_frame(const uint8_t *mem, uint32_t len_bytes, char *words,
                    size_t room);

/* Makes the frame that the words describe; fails the test when they describe
 * none. *control_seq counts the frames of stream 0. Returns the frame's
 * length. */
uint32_t words_to_frame(const char *words, uint64_t *control_seq, uint8_t *mem,
                        uint32_t cap_bytes);

/* words_fill() writes payload that tells its source (or stream) and number;
 * words_are_in_place() checks it. */
void words_fill(const struct ov_record *rec, uint8_t *mem);
bool words_are_in_place(const struct ov_record *rec, const uint8_t *mem);

#endif
