/* What tests of a tool's helper share: a door that answers as it is told, and a
 * libpmix that takes what it is given. */
#ifndef TESTS_UNIT_TOOL_RIG_H
#define TESTS_UNIT_TOOL_RIG_H

#include "tests/unit/rig.h"

#include "job/door.h"
#include "pmix_api/helper/lib/lib.h"
#include "pmix_api/helper/door.h"
#include "pmix_api/helper/jobs.h"

enum { TOOL_RIG_DOORS = 16, TOOL_RIG_DELIVERIES = 4096 };

struct tool_rig_delivery {
    struct px_lib_output output; /* nspace and mem are copies */
    char mem[64];                /* the first of its bytes */
};

struct tool_rig {
    struct px_door_way way;
    /* The session's ends, in the order in which they were dialled. */
    int doors[TOOL_RIG_DOORS];
    unsigned count;
    bool is_busy; /* dialling fails for now */
    struct px_jobs *jobs;
    void (*on_word)(const struct job_door *msg); /* of px_jobs; NULL: nobody */
    unsigned watched, ended;
    struct px_lib_name named;

    /* libpmix */
    size_t room;
    uint64_t taken, missed;
    unsigned withheld;         /* channels of processes */
    void (*on_withhold)(void); /* NULL: nobody */
    /* NULL: `missed` is the only one */
    uint64_t (*find_missed)(uint64_t behind);
    void (*on_delivery)(const struct px_lib_output *output); /* NULL: nobody */
    unsigned given;
    struct tool_rig_delivery all[TOOL_RIG_DELIVERIES];
    struct px_lib_push *forgets; /* NULL, or: it makes no sense any more once
                                    something is answered */
    enum px_lib_answer pull_answer, push_answers[64];
    void *push_calls[64]; /* also of others */
    unsigned pull_answers, pushes;
    void *spawn_call; /* that was answered with yes, and */
    char spawned[64]; /* the name of its job */
    unsigned events;
    enum px_lib_status event_codes[64];
    char event_texts[64][256]; /* "NAMESPACE RANK KEY=VALUE..." */
    unsigned others;           /* events of other tools */
    bool is_slow;
};

extern struct tool_rig tool_rig;

/* Before and after each test. */
void tool_rig_begin(void);
void tool_rig_end(void);

/* Hears a message of this door, which is waited for; its rest is valid until
 * the next call. The first two of each are HELLO and what comes then. */
struct job_door tool_rig_hear(unsigned door);
/* True where it has said nothing. */
bool tool_rig_is_silent(unsigned door);
void tool_rig_say(unsigned door, const struct job_door *msg);
void tool_rig_output(unsigned door, uint32_t number, uint8_t channel,
                     const char *text, bool is_end);
/* The session ends this connection. */
void tool_rig_hang_up(unsigned door);
/* The same, with what it was told unread, where there is something. */
void tool_rig_close(unsigned door);
/* Says much output of this process. False: not all of that is heard. */
bool tool_rig_is_read(unsigned door, uint32_t number);
/* Runs the loop until all that was said there is heard. */
void tool_rig_until_heard(unsigned door);
/* Runs the loop until nothing is left that is due now. */
void tool_rig_settle(void);
void tool_rig_run(bool (*is_true)(const void *arg), const void *arg);

/* The jobs "one", numbers 10 to 13 with stdout and stderr, "two", 20 and 21
 * with all three, and "dvm" of daemons. Door 0 is theirs. */
void tool_rig_watch(void);
/* HELLO, ATTACH of this job; says JOB. */
void tool_rig_attach(unsigned door, const char *name);

#endif
