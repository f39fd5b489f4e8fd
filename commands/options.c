/* Reads options by their rows, with argp. */
#include "commands/options.h"

#include <stdio.h>
#include <string.h>

#include "commands/refuse.h"
#include "commands/values.h"
#include "config.h"
#include "overlay/base/panic.h"

enum {
    ROWS_MAX = 96,
    KEY_FIRST = 256, /* argp's keys of options that have no letter begin here */
    KEY_HELP = 'h',
    OPTION_BYTES_MAX = 64
};

/* The rows that the command accepts, as argp needs them. */
static struct {
    const struct option_command *command;
    struct argp_option known[ROWS_MAX + 2]; /* ends with -h, then zeros */
    const struct option_row *rows[ROWS_MAX];
    void *into[ROWS_MAX];
    int count, group;
} taken;

/* --- preparing argp */

static bool is_heading(const struct option_row *row)
{
    return row->name == NULL && row->letter == '\0';
}

static bool is_alias(const struct option_row *row)
{
    return row->name == NULL && row->letter != '\0';
}

static int key_of(const struct option_row *row)
{
    if (is_heading(row))
        return 0;
    return row->letter != '\0' ? row->letter : KEY_FIRST + taken.count;
}

static void take_row(const struct option_row *row, void *into)
{
    OV_ASSERT(taken.count < ROWS_MAX);
    taken.known[taken.count] = (struct argp_option){
        .name = row->name,
        .key = key_of(row),
        .arg = row->arg,
        .flags = (row->is_optional ? OPTION_ARG_OPTIONAL : 0) |
                 (is_alias(row) && row->doc == NULL ? OPTION_ALIAS : 0),
        .doc = row->doc,
        .group = taken.group,
    };
    taken.rows[taken.count] = row;
    taken.into[taken.count++] = into;
}

/* Adds a heading together with the first row after it. */
static void take_table(const struct option_table *table)
{
    const struct option_row *heading = NULL;
    const unsigned sets = taken.command->sets;

    taken.group += table->is_apart;
    for (const struct option_row *row = table->rows;
         !is_heading(row) || row->doc != NULL; row++) {
        if (is_heading(row)) {
            heading = row;
            taken.group++;
            continue;
        }
        if (sets != 0 && (row->sets & sets) == 0)
            continue;
        if (heading != NULL)
            take_row(heading, NULL);
        heading = NULL;
        take_row(row, table->into);
    }
}

/* --- calls from argp */

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

static void take_word(const char *word, struct argp_state *state)
{
    const struct option_command *command = taken.command;

    if (state->arg_num == 0)
        state->name = command->name; /* argp has set another name */
    else if (command->on_word != NULL)
        command->on_word(word, state);
    else
        usage("unexpected argument '%s': only options are taken", word);
}

/* Returns the value of an option. "-np" is -n with the tail p: the value is the
 * next word. argp took it for the value "p" of -n. */
static char *value_of(const struct option_row *row, char *value,
                      struct argp_state *state)
{
    const char *word = state->argv[state->next - 1];

    if (row->tail == NULL || word[0] != '-' || word[1] != row->letter ||
        strcmp(word + 2, row->tail) != 0)
        return value;
    if (state->next == state->argc)
        usage("%s needs a value behind it", word);
    return state->argv[state->next++];
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    int i = 0;

    if (key == ARGP_KEY_ARG) {
        take_word(arg, state);
        return 0;
    }
    if (key == KEY_HELP) {
        if (strcmp(state->argv[state->next - 1], "-h") != 0)
            usage("-h stands alone; a label is given as --label=host");
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    }
    while (i < taken.count && taken.known[i].key != key)
        i++;
    if (i == taken.count)
        return ARGP_ERR_UNKNOWN;
    if (is_alias(taken.rows[i]))
        i--;
    if (taken.command->on_row != NULL)
        taken.command->on_row(taken.rows[i]);
    read_value(taken.rows[i], value_of(taken.rows[i], arg, state),
               taken.into[i]);
    return 0;
}

void options_parse(int argc, char **argv, const struct option_command *command)
{
    static char name[] = "xylem";
    const struct argp argp = {
        .options = taken.known,
        .parser = parse,
        .args_doc = command->args_doc,
        .doc = command->doc,
    };

    taken.command = command;
    taken.count = taken.group = 0;
    for (const struct option_table *table = command->tables;
         table->rows != NULL; table++)
        take_table(table);
    taken.known[taken.count] =
        (struct argp_option){.key = KEY_HELP, .flags = OPTION_HIDDEN};
    taken.known[taken.count + 1] = (struct argp_option){0};
    argp_program_version = "xylem " PACKAGE_VERSION;
    argp_err_exit_status = 2;
    argv[0] = name;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, NULL);
}
