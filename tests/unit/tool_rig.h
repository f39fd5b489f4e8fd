/* What tests of a tool's helper share: a door that gives the answers it was
 * told to give, and a libpmix that accepts all deliveries. */
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
    char mem[64];                /* the first bytes of the output */
};

struct tool_rig {
    struct px_door_way way;
    /* The session's ends of the connections, in the order in which they were
     * dialled. */
    int doors[TOOL_RIG_DOORS];
    unsigned count;
    bool is_busy; /* dialling fails with EAGAIN */
    struct px_jobs *jobs;
    /* the callback for px_jobs; may be NULL */
    void (*on_word)(const struct job_door *msg);
    unsigned watched, ended;
    struct px_lib_name named;

    /* The state of the replaced libpmix. */
    size_t room;
    uint64_t taken, missed;
    unsigned withheld;         /* how often output was withheld */
    void (*on_withhold)(void); /* may be NULL */
    /* NULL: `missed` is the only delivery that no pull has named. */
    uint64_t (*find_missed)(uint64_t behind);
    void (*on_delivery)(const struct px_lib_output *output); /* may be NULL */
    unsigned given;
    struct tool_rig_delivery all[TOOL_RIG_DELIVERIES];
    /* NULL; or a push that is overwritten once something is answered. */
    struct px_lib_push *forgets;
    enum px_lib_answer pull_answer, push_answers[64];
    void *push_calls[64]; /* pushes that were answered */
    unsigned pull_answers, pushes;
    void *spawn_call; /* the spawn that was answered with yes */
    char spawned[64]; /* the name of that spawn's job */
    unsigned events;
    enum px_lib_status event_codes[64];
    char event_texts[64]
                    [256]; /* the events, as "NAMESPACE RANK KEY=VALUE..." */
    unsigned others;       /* how many events of other tools there were */
    bool is_slow;
};

extern struct tool_rig tool_rig;

/* To be called before and after each test. */
void tool_rig_begin(void);
void tool_rig_end(void);

/* Waits for a message at this door; its rest is valid until the next call. Each
 * door begins with HELLO and the messages that follow it. */
struct job_door tool_rig_hear(unsigned door);
/* True when no message has come at this door. */
bool tool_rig_is_silent(unsigned door);
void tool_rig_say(unsigned door, const struct job_door *msg);
void tool_rig_output(unsigned door, uint32_t number, uint8_t channel,
                     const char *text, bool is_end);
/* Ends this connection, as the session would. */
void tool_rig_hang_up(unsigned door);
/* Does the same, leaving received bytes unread, if there are any. */
void tool_rig_close(unsigned door);
/* Sends much output of this process. False: not all of it is read. */
bool tool_rig_is_read(unsigned door, uint32_t number);
/* Runs the loop until all output sent there is read. */
void tool_rig_until_heard(unsigned door);
/* Runs the loop until nothing is due. */
void tool_rig_settle(void);
void tool_rig_run(bool (*is_true)(const void *arg), const void *arg);

/* Announces the jobs "one", numbers 10 to 13 with stdout and stderr; "two", 20
 * and 21 with all three channels; and "dvm", which has the daemons. They use
 * door 0. */
void tool_rig_watch(void);
/* Receives HELLO and ATTACH for this job; answers JOB. */
void tool_rig_attach(unsigned door, const char *name);

#endif
