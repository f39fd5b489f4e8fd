/* Splits a text into words as a shell does, but replaces nothing in it: `$',
 * '`' and `*' have no meaning, and no program is started.
 *
 *     blanks       separate words: spaces, tabs and newlines
 *     '...'        what stands there, as it is
 *     "..."        the same, but a backslash before \, ", $, ` or a newline
 *                  quotes this character
 *     \C           the character C
 */
#ifndef COMMANDS_SHELL_WORDS_H
#define COMMANDS_SHELL_WORDS_H

/* Returns the words, followed by NULL: memory that the caller frees as one
 * block. Returns NULL with *fault saying why the text cannot be split, or with
 * *fault as NULL when there is no memory. */
char **shell_words_split(const char *text, const char **fault);

#endif
