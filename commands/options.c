/* Reads options by their rows, with getopt_long(). */
#include "commands/options.h"

#include <getopt.h>
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

/* The results of getopt_long() for a word that is no option, for --help and,
 * plus the number of the row, for a name. For a letter the result is the
 * letter. */
enum { KEY_WORD = 1, KEY_HELP = 2, KEY_NAME = 256 };

/* The rows that the command accepts. */
static struct {
    const struct option_command *command;
    const struct option_row *rows[ROWS_MAX];
    void *into[ROWS_MAX]; /* the struct that the row's value goes to */
    bool is_given[ROWS_MAX];
    int count;
    /* The rows as getopt_long() needs them. */
    struct option names[ROWS_MAX + 3];
    char letters[3 * ROWS_MAX +
                 4]; /* each letter has at most two ':' after it */
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

/* Returns how many ':' follow the option's letter for getopt_long(), which is
 * also the value of `has_arg' for a name. */
static int has_arg(const struct option_row *row)
{
    if (row->arg == NULL)
        return no_argument;
    return row->is_optional ? optional_argument : required_argument;
}

/* Writes the rows in the form of getopt_long(). The first two characters of
 * `letters' mean that words are returned in their order, and that a missing
 * value is reported differently from an unknown option. */
static void describe_rows(void)
{
    struct option *name = taken.names;
    char *letter = stpcpy(taken.letters, "-:V");

    for (int i = 0; i < taken.count; i++) {
        const struct option_row *row = taken.rows[i];
        bool is_same = option_is_alias(row) && row->doc == NULL;
        int colons = has_arg(is_same ? taken.rows[i - 1] : row);

        if (row->name != NULL)
            *name++ = (struct option){row->name, colons, NULL, KEY_NAME + i};
        if (row->letter != '\0')
            letter += sprintf(letter, "%c%.*s", row->letter, colons, "::");
    }
    *name++ = (struct option){"help", no_argument, NULL, KEY_HELP};
    *name++ = (struct option){"version", no_argument, NULL, 'V'};
    *name = (struct option){0};
}

/* Returns the row of an option that getopt_long() has found. */
static int find_row(int key)
{
    int i = 0;

    if (key >= KEY_NAME)
        return key - KEY_NAME;
    while (taken.rows[i]->letter != key)
        i++;
    return i;
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

/* Returns the value of an option that getopt_long() has found in this word.
 * When the letter has its tail (see options.h) getopt_long() takes the tail for
 * the value, but the value is the next word. */
static const char *value_of(const struct option_row *row, const char *word,
                            const struct option_words *words)
{
    if (row->tail == NULL || word[1] != row->letter ||
        strcmp(word + 2, row->tail) != 0)
        return optarg;
    if (optind == words->argc)
        usage("%s needs a value after it", word);
    return words->argv[optind++];
}

/* Stores the value of an option in the field that its row names. */
static void take_option(int i, const char *word,
                        const struct option_words *words)
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
    read_value(taken.rows[i], value_of(taken.rows[i], word, words),
               taken.into[i]);
}

/* Prints what --help or --version asks for and ends the program. */
static _Noreturn void answer(int key)
{
    if (key == KEY_HELP)
        help_print(taken.command);
    else
        puts("xylem " PACKAGE_VERSION);
    exit(0);
}

/* --- words that are refused */

/* Options of other launchers, and the options of xylem that correspond to
 * them. */
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

/* Returns the option of xylem that corresponds to the option of another
 * launcher; NULL: none does. */
static const char *find_foreign(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        if (strlen(foreign[i][0]) == len &&
            memcmp(foreign[i][0], name, len) == 0)
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
    for (const struct option *at = taken.names; at->name != NULL; at++)
        similar_offer(&likely, at->name);
    if (likely.best == NULL)
        usage("there is no option %.*s", (int)len, word);
    usage("there is no option %.*s (did you mean --%s?)", (int)len, word,
          likely.best);
}

/* Refuses --NAME or --NAME=VALUE: the option takes no value, or the name is
 * that of no option or begins several. */
static _Noreturn void refuse_long(const char *word)
{
    const size_t len = strcspn(word, "=");
    const char *found = NULL;

    if (optopt != 0)
        usage("%.*s takes no value", (int)len, word);
    for (const struct option *at = taken.names; at->name != NULL; at++) {
        if (strncmp(at->name, word + 2, len - 2) != 0)
            continue;
        if (found != NULL)
            usage("%.*s may be --%s or --%s: write the whole name", (int)len,
                  word, found, at->name);
        found = at->name;
    }
    refuse_name(word, len);
}

/* Answers -h and -?, and refuses a word with another unknown letter. The user
 * may have written a whole name after a single dash. */
static _Noreturn void refuse_letter(const char *word)
{
    const bool is_name = strlen(word) > 3;

    if (optopt == '?' || strcmp(word, "-h") == 0)
        answer(KEY_HELP);
    if (optopt == 'h' && (word[1] != 'h' || !is_name))
        usage("-h cannot be combined with other letters (write --label=host "
              "for a label)");
    if (is_name)
        refuse_name(word, strcspn(word, "="));
    refuse_name((const char[]){'-', (char)optopt, '\0'}, 2);
}

/* --- the command line */

/* Passes on the word that was read last, which is no option. */
static void take_word(struct option_words *words)
{
    const char *word = words->argv[optind - 1];

    if (taken.command->on_word == NULL)
        usage("unexpected argument '%s': this command has only options", word);
    words->next = optind;
    taken.command->on_word(word, words);
    optind = words->next;
}

/* Handles what getopt_long() has found in a word. */
static void take_key(int key, const char *word, struct option_words *words)
{
    if (key == KEY_WORD)
        take_word(words);
    else if (key == KEY_HELP || key == 'V')
        answer(key);
    else if (key == ':')
        usage("%s needs a value after it", word);
    else if (key != '?')
        take_option(find_row(key), word, words);
    else if (word[1] == '-')
        refuse_long(word);
    else
        refuse_letter(word);
}

void options_parse(int argc, char **argv, const struct option_command *command)
{
    struct option_words words = {.argv = argv + 1, .argc = argc - 1};
    int key;

    taken.command = command;
    taken.count = 0;
    for (const struct option_table *table = command->tables;
         table->rows != NULL; table++)
        take_table(table);
    describe_rows();
    opterr = 0;
    optind = 0; /* getopt_long() begins anew with these words. */
    for (int at = 1; (key = getopt_long(words.argc, words.argv, taken.letters,
                                        taken.names, NULL)) != -1;
         at = optind)
        take_key(key, words.argv[at], &words);
    while (optind < words.argc) { /* The words after a "--" are no options. */
        optind++;
        take_word(&words);
    }
}
