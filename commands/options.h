/* Options of the commands. Each option has one row, which says what --help
 * prints about it and what is done with its value.
 *
 * A value follows its option: --NAME=VALUE, --NAME VALUE, -LVALUE or -L VALUE;
 * an optional value only as --NAME=VALUE or -LVALUE. Letters without values can
 * share a word. A name may be cut short as long as only one option begins so.
 * "--" ends the options. getopt_long() reads all of this.
 */
#ifndef COMMANDS_OPTIONS_H
#define COMMANDS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is done with a value. A wrong value ends the program, see values.h.
 * Strings stay borrowed. */
enum option_kind {
    OPTION_READ,    /* the row's function read() gets the value */
    OPTION_FLAG,    /* sets a bool to true */
    OPTION_TEXT,    /* a string */
    OPTION_WORDS,   /* a string that is not empty */
    OPTION_NUMBER,  /* an unsigned integer within bounds */
    OPTION_SECONDS, /* a double, seconds, with a lower bound */
    OPTION_BYTES,   /* an unsigned integer, a size in bytes within bounds */
    OPTION_TIME,    /* an unsigned integer, nanoseconds */
    OPTION_RATE,    /* an unsigned integer, bytes per second */
};

/* What an option of `xylem run' is about. */
enum option_set {
    OF_TREE = 1,    /* the tree, and so all jobs in the tree */
    OF_JOB = 2,     /* a job, possibly in the tree of a dvm */
    OF_PROGRAM = 4, /* one program of a job */
};

/* An option. A row that has a letter but no name is another letter for the
 * option before it; with a help text, that letter takes no value; a row that
 * has only a help text is the heading of the rows that follow. */
struct option_row {
    const char *name;
    char letter;     /* the option's letter; 0: it has none */
    const char *arg; /* what --help calls the value; NULL: the option takes no
                        value */
    const char *doc;
    unsigned sets; /* bits of enum option_set */
    enum option_kind kind;
    size_t at, size_bytes; /* offset and size of the field that gets the
                              value */
    uint64_t least, most;  /* bounds of a number or a size */
    double least_s;        /* lower bound of seconds */
    /* OPTION_READ: stores the value in *into. `value` is NULL when the user
     * left it out. */
    void (*read)(const char *value, void *into);
    bool is_optional; /* the user may leave the value out */
    bool is_list;     /* the value is a list of hosts; the option may be given
                       * once */
    /* Letters that may follow the option's letter in one word, as "p" for the
     * -np of mpirun; NULL: none. */
    const char *tail;
};

/* The last part of a row: its kind, and the field that gets the value. A file
 * that uses this macro defines OPTION_INTO as the struct that has the field. */
#define OPTION_FIELD(field)                                                    \
    .at = offsetof(OPTION_INTO, field),                                        \
    .size_bytes = sizeof(((OPTION_INTO *)0)->field)
#define READ(function) OPTION_READ, .read = (function)
#define FLAG(field)    OPTION_FLAG, OPTION_FIELD(field)
#define TEXT(field)    OPTION_TEXT, OPTION_FIELD(field)
#define WORDS(field)   OPTION_WORDS, OPTION_FIELD(field)
#define NUMBER(field, from, to)                                                \
    OPTION_NUMBER, OPTION_FIELD(field), .least = (from), .most = (to)
#define SECONDS(field, from)                                                   \
    OPTION_SECONDS, OPTION_FIELD(field), .least_s = (from)
#define BYTES(field, from, to)                                                 \
    OPTION_BYTES, OPTION_FIELD(field), .least = (from), .most = (to)
#define TIME(field) OPTION_TIME, OPTION_FIELD(field)
#define RATE(field) OPTION_RATE, OPTION_FIELD(field)

struct option_table {
    const struct option_row *rows; /* ends with a zeroed item */
    void *into;                    /* the struct that the rows' values go to */
    bool is_apart;                 /* --help lists these rows apart from all
                                      others */
};

/* The words of the command line. */
struct option_words {
    char **argv; /* begins with the command, for example "run" */
    int argc;
    int next; /* the word that is read next; on_word() may move it */
};

/* How --help is laid out beyond the order of the rows. */
struct option_help {
    const char *const *first; /* names of the options that come first; ends with
                                 NULL. NULL: all in the order of the rows */
    bool has_first_only;      /* further options are accepted and not shown */
    const char *examples;     /* lines for the end; NULL: there are none */
};

struct option_command {
    const char *name; /* for example "xylem run" */
    const char *args_doc, *doc;
    struct option_help help;
    const struct option_table *tables; /* ends with a zeroed item */
    unsigned sets; /* the command accepts only rows with one of these bits; 0:
                      all rows */
    /* Called for each option that the user gives, before its value is read; or
     * NULL. */
    void (*on_row)(const struct option_row *row);
    /* Called for an argument that is neither an option nor a value. NULL: such
     * arguments are wrong usage. */
    void (*on_word)(const char *word, struct option_words *words);
};

/* Returns whether the row is a heading, another letter of the option before it,
 * or the end of its table. */
bool option_is_heading(const struct option_row *row);
bool option_is_alias(const struct option_row *row);
bool option_is_last(const struct option_row *row);
/* Returns whether a command with these sets accepts the row. */
bool option_is_of(const struct option_row *row, unsigned sets);

/* Parses the arguments behind the first two, which are the program and the
 * command; may be called again for others. On wrong usage, --help and --version
 * it prints something and ends the program (with 2 or 0). */
void options_parse(int argc, char **argv, const struct option_command *command);

#endif
