/* Options of the commands: of each there is one row, which says what --help
 * says of it and what becomes of its value. */
#ifndef COMMANDS_OPTIONS_H
#define COMMANDS_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What becomes of a value. A wrong one ends the program, see values.h. Strings
 * stay borrowed. */
enum option_kind {
    OPTION_READ,    /* the row's function takes it */
    OPTION_FLAG,    /* a bool becomes true */
    OPTION_TEXT,    /* a string */
    OPTION_WORDS,   /* a string that is not empty */
    OPTION_NUMBER,  /* an unsigned integer within bounds */
    OPTION_SECONDS, /* a double with a lower bound */
    OPTION_BYTES,   /* an unsigned integer, as the next two are */
    OPTION_TIME,    /* nanoseconds */
    OPTION_RATE,    /* bytes a second */
};

/* Whose it is, of the options of `xylem run'. */
enum option_set {
    OF_TREE = 1,    /* it makes a tree, and holds for all jobs in it */
    OF_JOB = 2,     /* a job in the tree of a dvm can have it, too */
    OF_PROGRAM = 4, /* each program has its own */
};

/* Without a name: with a letter it is another one for the row before; with
 * words alone they are the heading of those that follow. */
struct option_row {
    const char *name;
    char letter;     /* 0: none */
    const char *arg; /* what --help calls the value; NULL: there is none */
    const char *doc;
    unsigned sets; /* bits of enum option_set */
    enum option_kind kind;
    size_t at, size_bytes; /* of the field that the value goes to */
    uint64_t least, most;  /* of a number */
    double least_s;        /* of seconds */
    /* value: NULL where it is left out. */
    void (*read)(const char *value, void *into);
    bool is_optional; /* the value can be left out */
};

/* What a row ends with: its kind, and the field of OPTION_INTO, the struct of
 * the file's tables, that the value goes to. */
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
    const struct option_row *rows; /* ended by a zero one */
    void *into;                    /* the struct with their fields */
    bool is_apart;                 /* --help has them apart from all others */
};

struct option_command {
    char *name; /* as it names itself: with the word xylem before it */
    const char *args_doc, *doc;
    const struct option_table *tables; /* ended by a zero one */
    unsigned sets; /* it takes the rows of these alone; 0: all */
    /* Called with each row that is given, before its value is read; or NULL. */
    void (*on_row)(const struct option_row *row);
    /* A word that is no option, and that is not its own. NULL: a refusal. */
    void (*on_word)(const char *word, struct argp_state *state);
};

/* Reads the words. On wrong usage, --help and --version it prints and ends the
 * program (2, 0). */
void options_parse(int argc, char **argv, const struct option_command *command);

#endif
