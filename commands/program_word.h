/* Detects a word that xylem would take for the program although the user meant
 * something else. */
#ifndef COMMANDS_PROGRAM_WORD_H
#define COMMANDS_PROGRAM_WORD_H

/* Ends the program with wrong usage when `word`, which is found nowhere here as
 * a program, is likely to be
 *
 * - the second host of a list that was not in quotes: a shell makes `-w n1 n2'
 *   of `-w n{1,2}', and of `-w n[1-2]' where files have these names. `hosts' is
 *   the list; NULL: there is none;
 * - the value of --label, which is the word `before' it.
 */
void program_word_check(const char *hosts, const char *before,
                        const char *word);

#endif
