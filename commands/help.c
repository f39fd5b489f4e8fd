/* Prints --help: the options in two columns, with the names on the left. */
#include "commands/help.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    WIDTH_DEFAULT = 80,
    WIDTH_MIN = 50,  /* the narrowest width; a narrower column cannot be read */
    WIDTH_MAX = 120, /* the widest width; longer lines are hard to read */
    TEXT_COLUMN = 29,
    NAMES_BYTES = 128
};

/* --- lines */

/* Returns how many characters a line can have. */
static int line_width(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return WIDTH_DEFAULT;
    if (size.ws_col < WIDTH_MIN)
        return WIDTH_MIN;
    return size.ws_col < WIDTH_MAX ? size.ws_col : WIDTH_MAX;
}

/* Prints the words of a text in lines that begin in this column. The first line
 * is in that column already. */
static void put_text(const char *text, int column, int width)
{
    int at = column;

    while (*text != '\0') {
        int len = (int)strcspn(text, " ");

        if (at > column && at + 1 + len > width) {
            printf("\n%*s", column, "");
            at = column;
        }
        at += printf("%s%.*s", at > column ? " " : "", len, text);
        text += len + (text[len] == ' ');
    }
    putchar('\n');
}

/* --- options */

static int add_letter(char *names, int len, char letter)
{
    return len + snprintf(names + len, NAMES_BYTES - (size_t)len, "%s-%c",
                          len > 2 ? ", " : "", letter);
}

/* Writes the letters, the name and the value of an option. */
static int name_option(const struct option_row *row, char *names)
{
    const char *open = row->is_optional ? "[=" : "=";
    const char *close = row->is_optional ? "]" : "";
    int len = snprintf(names, NAMES_BYTES, "  ");

    if (row->letter != '\0')
        len = add_letter(names, len, row->letter);
    if (row->name == NULL)
        return len;
    for (const struct option_row *more = row + 1;
         option_is_alias(more) && more->doc == NULL; more++)
        len = add_letter(names, len, more->letter);
    len += snprintf(names + len, NAMES_BYTES - (size_t)len, "%s--%s",
                    len > 2 ? ", " : "    ", row->name);
    if (row->arg != NULL)
        len += snprintf(names + len, NAMES_BYTES - (size_t)len, "%s%s%s", open,
                        row->arg, close);
    return len;
}

static void put_option(const char *names, int len, const char *text, int width)
{
    fputs(names, stdout);
    if (len + 2 > TEXT_COLUMN) {
        putchar('\n');
        len = 0;
    }
    printf("%*s", TEXT_COLUMN - len, "");
    put_text(text, TEXT_COLUMN, width);
}

static void put_row(const struct option_row *row, int width)
{
    char names[NAMES_BYTES];
    int len = name_option(row, names);

    put_option(names, len, row->doc, width);
}

/* Tells whether the option is one of those that come first. */
static bool is_first(const struct option_command *command, const char *name)
{
    const char *const *first = command->help.first;

    while (first != NULL && *first != NULL && strcmp(*first, name) != 0)
        first++;
    return first != NULL && *first != NULL;
}

/* Prints an option of this name, with a letter of its own for it, if the table
 * has it. */
static void put_named(const struct option_table *table, const char *name,
                      int width)
{
    for (const struct option_row *row = table->rows; !option_is_last(row);
         row++) {
        if (row->name == NULL || strcmp(row->name, name) != 0)
            continue;
        put_row(row, width);
        if (option_is_alias(row + 1) && row[1].doc != NULL)
            put_row(row + 1, width);
    }
}

static void put_first(const struct option_command *command, int width)
{
    const struct option_help *help = &command->help;

    printf("\n%s\n", help->has_first_only ? "Options:" : "Most used:");
    for (const char *const *name = help->first; *name != NULL; name++) {
        for (const struct option_table *table = command->tables;
             table->rows != NULL; table++)
            put_named(table, *name, width);
    }
}

/* Prints the options of a table that were not printed first. Each heading is
 * printed just before the first option under it. */
static void put_table(const struct option_command *command,
                      const struct option_table *table, int width)
{
    const struct option_row *heading = NULL, *option = NULL;

    if (table->is_apart)
        putchar('\n');
    for (const struct option_row *row = table->rows; !option_is_last(row);
         row++) {
        if (option_is_heading(row)) {
            heading = row;
            continue;
        }
        option = option_is_alias(row) ? option : row;
        if (!option_is_of(row, command->sets) || row->doc == NULL ||
            is_first(command, option->name))
            continue;
        if (heading != NULL)
            printf("\n%s\n", heading->doc);
        heading = NULL;
        put_row(row, width);
    }
}

void help_print(const struct option_command *command)
{
    const int width = line_width();
    int column = printf("Usage: %s ", command->name);

    column += printf("[OPTIONS] ");
    put_text(command->args_doc != NULL ? command->args_doc : "", column, width);
    put_text(command->doc, 0, width);
    if (command->help.first != NULL)
        put_first(command, width);
    for (const struct option_table *table = command->tables;
         table->rows != NULL && !command->help.has_first_only; table++)
        put_table(command, table, width);
    putchar('\n');
    put_option("  -h, --help", 12, "print this", width);
    put_option("  -V, --version", 15, "print version", width);
    if (command->help.examples != NULL)
        printf("\nExamples:\n%s", command->help.examples);
}
