/* The table that `xylem ps' prints. Pure; allocates nothing. */
#ifndef COMMANDS_PS_TABLE_H
#define COMMANDS_PS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "job/door.h"

enum {
    PS_NAME_BYTES = 128,
    PS_HOSTS_BYTES = 256,
    PS_COLUMNS = 8,
    PS_LINE_BYTES = 2048,
};

enum ps_kind {
    PS_JOB,     /* a job that is running */
    PS_DVM,     /* the daemons of a dvm */
    PS_IDLE,    /* a session without a job, because it begins or ends */
    PS_SILENT,  /* a session that does not answer */
    PS_REFUSED, /* a session that gives a reason why it refuses to answer */
    PS_KINDS
};

struct ps_row {
    pid_t pid; /* the pid of the launcher */
    enum ps_kind kind;
    uint32_t base;                /* the number of the job's first process */
    char job[PS_NAME_BYTES];      /* the name of the job; IDLE: the name of the
                                   * session */
    char hosts[PS_HOSTS_BYTES];   /* some of the job's hosts, folded */
    char text[JOB_DOOR_TEXT_MAX]; /* the command line, or the reason of the
                                   * refusal */
    uint32_t processes, left, hosts_count;
    uint64_t age_s, output_bytes, stdin_bytes;
    uint64_t quiet_s;       /* seconds since the last output; UINT64_MAX: there
                             * was none */
    uint64_t waiting_bytes; /* bytes of stdin that are on their way */
    char *groups; /* owned: lines about the job's processes; NULL: not requested
                   */
};

struct ps_widths {
    uint32_t column[PS_COLUMNS];
};

/* Computes the widths of the columns for these rows and the heading.
 * O(rows). */
void ps_table_widths(const struct ps_row *rows, size_t count,
                     struct ps_widths *out);
/* Writes a row, or (NULL) the heading, as a line without its end, and cuts it
 * off at this number of columns of the terminal (0: no limit). Control
 * characters, and bytes that are no UTF-8, become '?'. */
void ps_table_line(const struct ps_row *row, const struct ps_widths *widths,
                   uint32_t columns, char line[PS_LINE_BYTES]);
/* Writes a line about the job's output and stdin. */
void ps_table_flow(const struct ps_row *row, char line[PS_LINE_BYTES]);
/* Copies a text and replaces characters as ps_table_line() does. */
void ps_text_clean(const char *text, char *out, size_t size_bytes);
/* Copies the next line of *text without its newline, replaces characters in the
 * same way, and moves *text to the line after it. Returns false when there is
 * no further line. */
bool ps_text_line(const char **text, char line[PS_LINE_BYTES]);

#endif
