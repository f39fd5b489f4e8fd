/* Options of the commands. Each option has one row, which says what --help says
 * about it and what is done with its value. */
#ifndef COMMANDS_OPTIONS_H
#define COMMANDS_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is done with a value. A wrong value ends the program, see values.h.
 * Strings stay borrowed. */
enum option_kind {
    OPTION_READ,    /* the function of the row reads it */
    OPTION_FLAG,    /* sets a bool to true */
    OPTION_TEXT,    /* a string */
    OPTION_WORDS,   /* a string that is not empty */
    OPTION_NUMBER,  /* an unsigned integer within bounds */
    OPTION_SECONDS, /* a double with a lower bound */
    OPTION_BYTES,   /* an unsigned integer, as are the next two */
    OPTION_TIME,    /* nanoseconds */
    OPTION_RATE,    /* bytes a second */
};

/* What an option of `xylem run' is about. */
enum option_set {
    OF_TREE = 1,    /* the tree, and so all jobs in it */
    OF_JOB = 2,     /* a job; also possible in the tree of a dvm */
    OF_PROGRAM = 4, /* one program */
};

/* A row without a name is, with a letter, another letter for the row before it;
 * with words only, the heading of the rows that follow. */
struct option_row {
    const char *name;
    char letter;     /* 0: none */
    const char *arg; /* what --help calls the value; NULL: it takes none */
    const char *doc;
    unsigned sets; /* bits of enum option_set */
    enum option_kind kind;
    size_t at, size_bytes; /* of the field that gets the value */
    uint64_t least, most;  /* bounds of a number */
    double least_s;        /* lower bound of seconds */
    /* value is NULL where the user left it out. */
    void (*read)(const char *value, void *into);
    bool is_optional; /* the user may leave the value out */
};

/* The end of a row: its kind, and the field that gets the value. The field
 * belongs to OPTION_INTO, the struct of the tables in the file. */
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
#define BYTES(field) OPTION_BYTES, OPTION_FIELD(field)
#define TIME(field)  OPTION_TIME, OPTION_FIELD(field)
#define RATE(field)  OPTION_RATE, OPTION_FIELD(field)

struct option_table {
    const struct option_row *rows; /* ended by a zeroed one */
    void *into;                    /* the struct that has their fields */
    bool is_apart;                 /* --help lists them apart from all others */
};

struct option_command {
    char *name; /* its name with the word xylem before it */
    const char *args_doc, *doc;
    const struct option_table *tables; /* ended by a zeroed one */
    unsigned sets; /* it accepts rows of these only; 0: all */
    /* Called for each row that is given, before its value is read; or NULL. */
    void (*on_row)(const struct option_row *row);
    /* Called for a word that is neither an option nor a value. NULL: such words
     * are refused. */
    void (*on_word)(const char *word, struct argp_state *state);
};

/* Reads the words. On wrong usage, --help and --version it prints something and
 * ends the program (2 or 0). */
void options_parse(int argc, char **argv, const struct option_command *command);

#endif
