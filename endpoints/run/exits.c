/* The lines about processes that ended badly. */
#include "endpoints/run/exits.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "endpoints/run/plan.h"
#include "endpoints/run/recent.h"
#include "endpoints/run/roll.h"
#include "endpoints/run/stats_json.h"
#include "job/life.h"

/* LINES_MAX bounds the lines about exits; with the message about the first
 * failure there are ten. */
enum {
    LINES_MAX = 9,
    REPORT_HOSTS = 4096,
    LINE_BYTES = RUN_ROLL_MAX + 128,
};

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

/* --- the first failure */

enum { END_MAX = (RUN_EXITS_FIRST_MAX - 64) / 2 };

/* Writes how a process ended, as "rank 3 on node1 returned 7". */
static const char *words_of(const struct run_plan *plan,
                            const struct job_first *first, char *text)
{
    const char *host = ep_run_host_of_rank(plan, first->rank);
    const int status = first->status;

    if (WIFSIGNALED(status))
        snprintf(text, END_MAX, "rank %u on %s was ended by signal %d (%s)",
                 first->rank, host, WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, END_MAX, "rank %u on %s returned %d", first->rank, host,
                 WEXITSTATUS(status));
    return text;
}

/* Tells whether a signal of the user has ended a process. The user expects
 * that; a separate line says which processes the signal has ended. */
static bool is_by_user(const struct job_life *life, int status)
{
    return WIFSIGNALED(status) &&
           (life->signals & UINT64_C(1) << (WTERMSIG(status) & 63)) != 0;
}

/* Returns how many of the failures that may have been the first differ from the
 * one that is named; *out is one of them. */
static uint32_t count_others(const struct job_life *life,
                             const struct job_first **out)
{
    const struct job_failure *failure = &life->failure;
    uint32_t count = 0;

    for (uint32_t i = failure->firsts_count; i-- > 0;) {
        const int status = failure->firsts[i].status;

        if (status == failure->status || is_by_user(life, status))
            continue;
        *out = &failure->firsts[i];
        count++;
    }
    return count;
}

bool ep_run_exits_first_words(const struct run_plan *plan,
                              const struct job_life *life, char *text)
{
    const struct job_failure *failure = &life->failure;
    const struct job_first *other = NULL;
    const uint32_t others = count_others(life, &other);
    char first[END_MAX], second[END_MAX];

    text[0] = '\0';
    if (is_by_user(life, failure->status))
        return false;
    words_of(plan, &failure->firsts[0], first);
    if (others == 0)
        snprintf(text, RUN_EXITS_FIRST_MAX, "%s", first);
    else
        snprintf(text, RUN_EXITS_FIRST_MAX, "%s; within %.1f ms also %s%s",
                 first, (double)job_failure_unsure_ns(failure) / 1e6,
                 words_of(plan, other, second),
                 others > 1 ? ", and others" : "");
    return true;
}

void ep_run_exits_first(const struct run_plan *plan,
                        const struct job_life *life, struct run_voice *voice)
{
    char text[RUN_EXITS_FIRST_MAX];

    if (ep_run_exits_first_words(plan, life, text))
        ep_voice_say(voice, "%s", text);
}

void ep_run_exits_earlier(const struct run_plan *plan,
                          const struct job_life *life, struct run_voice *voice)
{
    char text[END_MAX];

    if (!is_by_user(life, life->failure.status))
        ep_voice_say(voice, "before that %s",
                     words_of(plan, &life->failure.firsts[0], text));
}

/* The arguments of the functions that write lines. */
struct showing {
    const struct run_plan *plan;
    struct run_voice *voice;
    uint32_t rank;
    bool has_begun;
};

static void show_line(void *arg, const char *text)
{
    struct showing *showing = arg;

    if (!showing->has_begun)
        ep_voice_say(showing->voice,
                     "the last lines of rank %u on %s:", showing->rank,
                     ep_run_host_of_rank(showing->plan, showing->rank));
    showing->has_begun = true;
    ep_voice_say(showing->voice, "  %s", text);
}

void ep_run_exits_wrote(const struct run_plan *plan,
                        const struct job_life *life,
                        const struct run_recent *recent,
                        struct run_voice *voice)
{
    struct showing showing = {plan, voice, life->failure.rank, false};

    if (!is_by_user(life, life->failure.status))
        (void)ep_recent_show(recent, show_line, &showing);
}

/* --- lines about all processes */

static void put_itself(int status, const char *who, char *line)
{
    if (WIFSIGNALED(status))
        snprintf(line, LINE_BYTES, "signal %d (%s): %s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)), who);
    else
        snprintf(line, LINE_BYTES, "exit %d: %s", WEXITSTATUS(status), who);
}

/* Writes how the processes of a group ended, and which they are. */
static void put_group(const struct run_plan *plan, const struct job_life *life,
                      uint8_t number, char *line)
{
    const struct job_exits *group = &life->census.groups[number];
    char who[RUN_ROLL_MAX];

    ep_run_roll_words(plan, life, (uint8_t)(JOB_PROCESS_STATES + number), 0,
                      who);
    line[0] = '\0';
    switch ((enum job_exit_cause)group->cause) {
    case JOB_EXIT_ITSELF:
        put_itself(group->status, who, line);
        break;
    case JOB_EXIT_OTHER:
        snprintf(line, LINE_BYTES, "other exit codes: %s", who);
        break;
    case JOB_EXIT_SIGNAL:
        snprintf(line, LINE_BYTES, "ended by your %s: %s",
                 name_of(WTERMSIG(group->status)), who);
        break;
    case JOB_EXIT_KILLED:
        snprintf(line, LINE_BYTES, "ended by xylem: %u process%s", group->count,
                 group->count == 1 ? "" : "es");
        break;
    case JOB_EXIT_CAUSES:
        break;
    }
}

void ep_run_exits_groups(const struct run_plan *plan,
                         const struct job_life *life, uint32_t named,
                         struct text_buf *text)
{
    struct job_census_view view;
    char line[LINE_BYTES];

    job_census_view(&life->census, LINES_MAX, named, &view);
    for (uint32_t i = 0; i < view.shown_count; i++) {
        put_group(plan, life, view.shown[i], line);
        text_buf_printf(text, "%s\n", line);
    }
    if (view.left_groups > 0)
        text_buf_printf(text, "%u more processes ended in %u other ways\n",
                        view.left_processes, view.left_groups);
}

void ep_run_exits_others(const struct run_plan *plan,
                         const struct job_life *life, struct text_buf *text)
{
    const bool is_named =
        life->failure.count > 0 && !is_by_user(life, life->failure.status);

    ep_run_exits_groups(plan, life, is_named ? life->failure.rank : UINT32_MAX,
                        text);
}

void ep_run_exits_tell(const struct run_plan *plan, const struct job_life *life,
                       struct run_voice *voice)
{
    struct text_buf text = {0};

    ep_run_exits_others(plan, life, &text);
    for (char *at = text.at, *end; at != NULL && *at != '\0'; at = end + 1) {
        end = strchr(at, '\n');
        *end = '\0';
        ep_voice_say(voice, "%s", at);
    }
    text_buf_fini(&text);
}

/* --- the report of --stats */

static struct ep_stats_end end_of(const struct run_plan *plan,
                                  const struct job_life *life, uint8_t number)
{
    static const char *const by[JOB_EXIT_CAUSES] = {
        [JOB_EXIT_ITSELF] = "itself",
        [JOB_EXIT_OTHER] = "itself",
        [JOB_EXIT_SIGNAL] = "user",
        [JOB_EXIT_KILLED] = "xylem",
    };
    const struct job_exits *group = &life->census.groups[number];
    struct run_roll roll;

    ep_run_roll_call(plan, life, (uint8_t)(JOB_PROCESS_STATES + number),
                     RUN_ROLL_RANKS_MAX, REPORT_HOSTS, &roll);
    return (struct ep_stats_end){.by = by[group->cause],
                                 .status = group->status,
                                 .count = group->count,
                                 .ranks = strdup(roll.ranks),
                                 .hosts = roll.hosts};
}

static void fill_firsts(const struct run_plan *plan,
                        const struct job_failure *failure,
                        struct ep_stats *stats)
{
    struct ep_stats_first *firsts = calloc(JOB_FAILURE_FIRSTS, sizeof(*firsts));

    stats->ends.firsts = firsts;
    for (uint32_t i = 0; firsts != NULL && i < failure->firsts_count; i++) {
        const struct job_first *first = &failure->firsts[i];

        firsts[stats->ends.firsts_count++] = (struct ep_stats_first){
            first->rank, ep_run_host_of_rank(plan, first->rank), first->status};
    }
    stats->ends.firsts_s = (double)job_failure_unsure_ns(failure) / 1e9;
}

static void add_line(void *arg, const char *text)
{
    struct ep_stats_ends *ends = arg;

    ends->lines[ends->lines_count] = strdup(text);
    ends->lines_count += ends->lines[ends->lines_count] != NULL;
}

void ep_run_exits_fill(const struct run_plan *plan, const struct job_life *life,
                       const struct run_recent *recent, struct ep_stats *stats)
{
    struct job_census_view view;
    struct ep_stats_end *ends;

    fill_firsts(plan, &life->failure, stats);
    if (life->failure.count > 0)
        stats->ends.lines =
            calloc(RUN_RECENT_LINES, sizeof(*stats->ends.lines));
    if (stats->ends.lines != NULL)
        (void)ep_recent_lines(recent, RUN_RECENT_LINES, add_line, &stats->ends);
    job_census_view(&life->census, JOB_CENSUS_GROUPS, UINT32_MAX, &view);
    ends = calloc((size_t)view.shown_count + 1, sizeof(*ends));
    stats->ends.at = ends;
    for (uint32_t i = 0; ends != NULL && i < view.shown_count; i++)
        ends[stats->ends.count++] = end_of(plan, life, view.shown[i]);
}

void ep_run_exits_drop(struct ep_stats *stats)
{
    for (uint32_t i = 0; i < stats->ends.count; i++) {
        free(stats->ends.at[i].ranks);
        free(stats->ends.at[i].hosts);
    }
    for (uint32_t i = 0; i < stats->ends.lines_count; i++)
        free(stats->ends.lines[i]);
    free(stats->ends.lines);
    free((void *)stats->ends.at);
    free((void *)stats->ends.firsts);
}
