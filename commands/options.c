/* Reads options by their rows. */
#include "commands/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/help.h"
#include "commands/refuse.h"
#include "commands/similar.h"
#include "commands/values.h"
#include "config.h"
#include "overlay/base/panic.h"

enum { ROWS_MAX = 96, OPTION_BYTES_MAX = 64 };

/* The rows that the command accepts. */
static struct {
    const struct option_command *command;
    const struct option_row *rows[ROWS_MAX];
    void *into[ROWS_MAX]; /* the struct that the row's value goes to */
    bool is_given[ROWS_MAX];
    int count;
} taken;

/* --- the rows */

bool option_is_heading(const struct option_row *row)
{
    return row->name == NULL && row->letter == '\0';
}

bool option_is_alias(const struct option_row *row)
{
    return row->name == NULL && row->letter != '\0';
}

bool option_is_last(const struct option_row *row)
{
    return option_is_heading(row) && row->doc == NULL;
}

bool option_is_of(const struct option_row *row, unsigned sets)
{
    return sets == 0 || (row->sets & sets) != 0;
}

static void take_table(const struct option_table *table)
{
    for (const struct option_row *row = table->rows; !option_is_last(row);
         row++) {
        if (option_is_heading(row) || !option_is_of(row, taken.command->sets))
            continue;
        OV_ASSERT(taken.count < ROWS_MAX);
        taken.rows[taken.count] = row;
        taken.is_given[taken.count] = false;
        taken.into[taken.count++] = table->into;
    }
}

/* Finds the option with this letter; returns taken.count when there is none. */
static int find_letter(char letter)
{
    int i = 0;

    while (i < taken.count && taken.rows[i]->letter != letter)
        i++;
    return i;
}

/* Tells whether the name of this row, or "help" or "version", is the first
 * `len` bytes of the word. */
static bool is_named(const char *name, const char *word, size_t len)
{
    return name != NULL && strlen(name) == len && strncmp(name, word, len) == 0;
}

/* --- values */

static void put_number(const struct option_row *row, void *field,
                       uint64_t value)
{
    switch (row->size_bytes) {
    case sizeof(uint16_t):
        *(uint16_t *)field = (uint16_t)value;
        break;
    case sizeof(uint32_t):
        *(uint32_t *)field = (uint32_t)value;
        break;
    default:
        OV_ASSERT(row->size_bytes == sizeof(uint64_t));
        *(uint64_t *)field = value;
        break;
    }
}

static void read_value(const struct option_row *row, const char *value,
                       void *into)
{
    void *field = (char *)into + row->at;
    char option[OPTION_BYTES_MAX];

    snprintf(option, sizeof(option), "--%s", row->name);
    switch (row->kind) {
    case OPTION_READ:
        row->read(value, into);
        break;
    case OPTION_FLAG:
        *(bool *)field = true;
        break;
    case OPTION_TEXT:
        *(const char **)field = value;
        break;
    case OPTION_WORDS:
        *(const char **)field = value_words(option, value);
        break;
    case OPTION_NUMBER:
        put_number(row, field,
                   value_number(option, value, row->least, row->most));
        break;
    case OPTION_SECONDS:
        *(double *)field = value_seconds(option, value, row->least_s);
        break;
    case OPTION_BYTES:
        put_number(row, field,
                   value_bytes(option, value, row->least, row->most));
        break;
    case OPTION_TIME:
        put_number(row, field, value_time(option, value));
        break;
    case OPTION_RATE:
        put_number(row, field, value_rate(option, value));
        break;
    }
}

/* Stores the value of an option in the field that its row names. */
static void take_option(int i, const char *value)
{
    if (option_is_alias(taken.rows[i]))
        i--;
    if (taken.is_given[i] && taken.rows[i]->is_list)
        usage("--%s is given twice: give one list, in quotes, as "
              "'node[1-4],login'",
              taken.rows[i]->name);
    taken.is_given[i] = true;
    if (taken.command->on_row != NULL)
        taken.command->on_row(taken.rows[i]);
    read_value(taken.rows[i], value, taken.into[i]);
}

/* Returns the next word, which is the value of the option `option`. */
static const char *next_value(const char *option, struct option_words *words)
{
    if (words->next == words->argc)
        usage("%s needs a value behind it", option);
    return words->argv[words->next++];
}

/* --- options with names */

/* What other launchers call an option, and what xylem does. */
// clang-format off
static const char *const foreign[][2] = {
    {"bind-to", "bind"},
    {"cpu-bind", "bind"},
    {"host", "hosts"},
    {"machinefile", "hostfile"},
    {"nodelist", "hosts"},
    {"np", "procs"},
    {"npernode", "ppn"},
    {"ntasks", "procs"},
    {"ntasks-per-node", "ppn"},
    {"tag-output", "label"},
    {"time", "timeout"},
    {"wdir", "chdir"},
};
// clang-format on

/* Returns what xylem calls the option of another launcher; NULL: none. */
static const char *find_foreign(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        if (is_named(foreign[i][0], name, len))
            return foreign[i][1];
    }
    return NULL;
}

/* Refuses a word, of `len` bytes, that is no option, and names the option that
 * may have been meant. */
static _Noreturn void refuse_name(const char *word, size_t len)
{
    const char *name = word + (word[1] == '-' ? 2 : 1);
    const size_t name_len = len - (size_t)(name - word);
    const char *meant = find_foreign(name, name_len);
    struct similar likely;

    similar_init(&likely, meant != NULL ? meant : name,
                 meant != NULL ? strlen(meant) : name_len);
    for (int i = 0; i < taken.count; i++)
        similar_offer(&likely, taken.rows[i]->name);
    similar_offer(&likely, "help");
    similar_offer(&likely, "version");
    if (likely.best == NULL)
        usage("there is no option %.*s", (int)len, word);
    usage("there is no option %.*s (did you mean --%s?)", (int)len, word,
          likely.best);
}

/* Finds the option with this name, or the only one whose name begins so. */
static int find_name(const char *word, size_t len)
{
    const char *name = word + 2;
    int found = taken.count;

    len -= 2;
    for (int i = 0; i < taken.count; i++) {
        if (is_named(taken.rows[i]->name, name, len))
            return i;
        if (taken.rows[i]->name == NULL ||
            strncmp(taken.rows[i]->name, name, len) != 0)
            continue;
        if (found < taken.count)
            usage("--%.*s may be --%s or --%s: write the whole name", (int)len,
                  name, taken.rows[found]->name, taken.rows[i]->name);
        found = i;
    }
    return found;
}

/* Prints what --help or --version asks for and ends the program; returns when
 * the name is another one. */
static void answer(const char *name, size_t len)
{
    if (is_named("help", name, len))
        help_print(taken.command);
    else if (is_named("version", name, len))
        puts("xylem " PACKAGE_VERSION);
    else
        return;
    exit(0);
}

/* Reads --NAME, --NAME=VALUE or --NAME VALUE. */
static void take_name(const char *word, struct option_words *words)
{
    size_t len = strcspn(word, "=");
    const char *value = word[len] == '=' ? word + len + 1 : NULL;
    const struct option_row *row;
    int i;

    answer(word + 2, len - 2);
    i = find_name(word, len);
    if (i == taken.count)
        refuse_name(word, len);
    row = taken.rows[i];
    if (row->arg == NULL && value != NULL)
        usage("--%s takes no value", row->name);
    if (row->arg != NULL && !row->is_optional && value == NULL)
        value = next_value(word, words);
    take_option(i, value);
}

/* --- options with letters */

/* Refuses a word of letters of which one is unknown. A user may have written a
 * whole name behind one dash. */
static _Noreturn void refuse_letter(const char *word, char letter)
{
    if (strlen(word) > 3)
        refuse_name(word, strcspn(word, "="));
    refuse_name((const char[]){'-', letter, '\0'}, 2);
}

/* Prints what -h, -? or -V asks for and ends the program; returns when the
 * letter is another one. */
static void answer_letter(const char *word, char letter)
{
    if (letter == 'h' && word[1] == 'h' && strlen(word) > 3)
        refuse_name(word, strcspn(word, "="));
    if (letter == 'h' && strcmp(word, "-h") != 0)
        usage("-h stands alone; a label is given as --label=host");
    if (letter == 'h' || letter == '?')
        answer("help", strlen("help"));
    if (letter == 'V')
        answer("version", strlen("version"));
}

/* Returns the value of an option with a letter, which is the rest of its word
 * or the next word. NULL: it has none. */
static const char *letter_value(const struct option_row *row, const char *rest,
                                struct option_words *words)
{
    const char *word = words->argv[words->next - 1];

    if (row->tail != NULL && rest == word + 2 && strcmp(rest, row->tail) == 0)
        return next_value(word, words);
    if (*rest != '\0')
        return rest;
    if (row->is_optional)
        return NULL;
    return next_value(word, words);
}

/* Reads -A, -ABC or -AVALUE. */
static void take_letters(const char *word, struct option_words *words)
{
    for (const char *at = word + 1; *at != '\0'; at++) {
        int i = find_letter(*at);
        const struct option_row *row;

        if (i == taken.count)
            answer_letter(word, *at);
        if (i == taken.count)
            refuse_letter(word, *at);
        row = taken.rows[i];
        if (option_is_alias(row) && row->doc == NULL)
            row = taken.rows[i - 1];
        if (row->arg != NULL) {
            take_option(i, letter_value(row, at + 1, words));
            return;
        }
        take_option(i, NULL);
    }
}

/* --- the command line */

static void take_word(const char *word, struct option_words *words)
{
    if (taken.command->on_word == NULL)
        usage("unexpected argument '%s': only options are taken", word);
    taken.command->on_word(word, words);
}

void options_parse(int argc, char **argv, const struct option_command *command)
{
    struct option_words words = {.argv = argv, .argc = argc, .next = 2};
    bool are_over = false; /* a "--" ends the options */

    taken.command = command;
    taken.count = 0;
    for (const struct option_table *table = command->tables;
         table->rows != NULL; table++)
        take_table(table);
    while (words.next < words.argc) {
        const char *word = argv[words.next++];

        if (are_over || word[0] != '-' || word[1] == '\0')
            take_word(word, &words);
        else if (strcmp(word, "--") == 0)
            are_over = true;
        else if (word[1] == '-')
            take_name(word, &words);
        else
            take_letters(word, &words);
    }
}
