/* The results for a job's processes. */
#ifndef COMMANDS_STACK_REPORT_H
#define COMMANDS_STACK_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "commands/stack/marks.h"
#include "commands/stack/texts.h"
#include "commands/stack/tree.h"

enum stack_fault {
    STACK_FAULT_NO_TOOL,   /* the host has neither gdb nor eu-stack */
    STACK_FAULT_REFUSED,   /* the system does not allow the look */
    STACK_FAULT_TIMEOUT,   /* the command took too long */
    STACK_FAULT_FAILED,    /* the command failed, or the host cannot be used */
    STACK_FAULT_UNSTARTED, /* the process has not been started yet */
    STACK_FAULT_ROOM,      /* there are too many results to keep */
    STACK_FAULTS
};

struct stack_report {
    struct stack_room room, fault_room;
    struct stack_tree tree;
    struct stack_texts texts;                /* texts of commands that write no
                                              * call chains */
    struct stack_texts faults[STACK_FAULTS]; /* failures, with the last words of
                                              * the command */
    struct topo_ranges ended; /* ranks whose processes have ended */
    bool reads_chains;        /* the command writes call chains, as gdb does */
    double limit_s;           /* the time limit, for messages */
};

/* Makes an empty report; `words' is the user's command, or NULL. */
void stack_report_init(struct stack_report *report, const char *command,
                       double limit_s);
void stack_report_free(struct stack_report *report);

/* Adds the result for a process; `arg' is the report. */
void stack_report_look(void *arg, const struct stack_look *look);
/* Adds a rank that could not be looked at, with the message about it. */
void stack_report_fault(struct stack_report *report, enum stack_fault fault,
                        uint32_t rank, const char *text, size_t len_bytes);
/* Adds a rank that has ended. */
void stack_report_ended(struct stack_report *report, uint32_t rank);

#endif
