/* The lines about processes that ended badly, and about those that run. */
#include "endpoints/run/exits.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "endpoints/run/plan.h"
#include "endpoints/run/roll.h"
#include "job/life.h"

/* With the message about the first failure they are ten. */
enum { LINES_MAX = 9 };

/* The name of a signal that the launcher passes on. */
static const char *name_of(int signo)
{
    switch (signo) {
    case SIGINT:
        return "SIGINT";
    case SIGTERM:
        return "SIGTERM";
    case SIGUSR1:
        return "SIGUSR1";
    case SIGUSR2:
        return "SIGUSR2";
    default:
        return "signal";
    }
}

static void tell_group(const struct run_plan *plan, const struct job_life *life,
                       struct run_voice *voice, uint8_t number)
{
    const struct job_exits *group = &life->census.groups[number];
    const int status = group->status;
    char who[RUN_ROLL_MAX];

    ep_run_roll_words(plan, life, (uint8_t)(JOB_PROCESS_STATES + number), 0,
                      who);
    switch ((enum job_exit_cause)group->cause) {
    case JOB_EXIT_ITSELF:
        if (WIFSIGNALED(status))
            ep_voice_say(voice, "signal %d (%s): %s", WTERMSIG(status),
                         strsignal(WTERMSIG(status)), who);
        else
            ep_voice_say(voice, "exit %d: %s", WEXITSTATUS(status), who);
        break;
    case JOB_EXIT_OTHER:
        ep_voice_say(voice, "other exit codes: %s", who);
        break;
    case JOB_EXIT_SIGNAL:
        ep_voice_say(voice, "ended by your %s: %s", name_of(WTERMSIG(status)),
                     who);
        break;
    case JOB_EXIT_KILLED:
        ep_voice_say(voice, "ended by xylem: %u process%s", group->count,
                     group->count == 1 ? "" : "es");
        break;
    case JOB_EXIT_CAUSES:
        break;
    }
}

void ep_run_exits_tell(const struct run_plan *plan, const struct job_life *life,
                       struct run_voice *voice)
{
    const uint32_t named =
        life->failure.count > 0 ? life->failure.rank : UINT32_MAX;
    struct job_census_view view;

    job_census_view(&life->census, LINES_MAX, named, &view);
    for (uint32_t i = 0; i < view.shown_count; i++)
        tell_group(plan, life, voice, view.shown[i]);
    if (view.left_groups > 0)
        ep_voice_say(voice, "%u more processes ended in %u other ways",
                     view.left_processes, view.left_groups);
}

bool ep_run_exits_rest(const struct run_plan *plan, const struct job_life *life,
                       struct run_voice *voice, const char *words)
{
    char who[RUN_ROLL_MAX];

    if (ep_run_roll_words(plan, life, JOB_PROCESS_TOLD, life->job->size, who) ==
        0)
        return false;
    ep_voice_say(voice, "%s: %s", words, who);
    return true;
}
