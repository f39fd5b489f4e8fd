/* Reads and runs scenarios. */
#include "sim/scenario.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report.h"
#include "sim/tally.h"

enum {
    LINE_BYTES = 256,
    WORDS = 4,
    FAULTS = 64,
    READERS = 64,
    ITEMS_AT_ONCE = 4096,
};

#define WAIT_NS UINT64_C(1000000000000) /* the longest `wait' */

struct scenario {
    FILE *out;
    bool (*goes_on)(void);
    struct sim_cfg cfg;
    struct sim_fault faults[FAULTS];
    struct sim_reader readers[READERS];
    struct sim_world world;
    unsigned line;
    char *word[WORDS]; /* words of the line; "" beyond its end */
    bool has_started, has_failed;
};

static void fail(struct scenario *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void fail(struct scenario *s, const char *format, ...)
{
    va_list args;

    if (s->has_failed)
        return;
    s->has_failed = true;
    fprintf(s->out, "line %u: ", s->line);
    va_start(args, format);
    vfprintf(s->out, format, args);
    va_end(args);
    fputc('\n', s->out);
}

/* --- values */

/* Reads a number with one of the suffixes. worth[i] is the factor that
 * suffixes[i] stands for. */
static uint64_t value(struct scenario *s, const char *text,
                      const char *const *suffixes, const uint64_t *worth)
{
    char *end;
    uint64_t number = strtoull(text, &end, 10);

    for (unsigned i = 0; suffixes[i] != NULL && end != text; i++) {
        if (strcmp(end, suffixes[i]) == 0 && number < UINT64_MAX / worth[i])
            return number * worth[i];
    }
    fail(s, "'%s' is not a value for %s", text, s->word[0]);
    return 0;
}

static uint64_t bytes(struct scenario *s, const char *text)
{
    static const char *const suffixes[] = {"", "K", "M", NULL};
    static const uint64_t worth[] = {1, 1024, 1024 * 1024};

    return value(s, text, suffixes, worth);
}

static uint64_t time_ns(struct scenario *s, const char *text)
{
    static const char *const suffixes[] = {"ns", "us", "ms", "s", NULL};
    static const uint64_t worth[] = {1, 1000, 1000000, 1000000000};

    return value(s, text, suffixes, worth);
}

static uint32_t count(struct scenario *s, const char *text)
{
    static const char *const suffixes[] = {"", NULL};
    static const uint64_t worth[] = {1};

    return (uint32_t)value(s, text, suffixes, worth);
}

static uint32_t node(struct scenario *s, const char *text)
{
    uint32_t n = count(s, text);

    if (n >= s->cfg.overlay.plan.nodes) {
        fail(s, "there is no node '%s'", text);
        return 0;
    }
    return n;
}

/* --- setting up */

static void set_reader(struct scenario *s)
{
    struct sim_reader *reader = &s->readers[s->cfg.job.readers_count];

    if (s->cfg.job.readers_count == READERS) {
        fail(s, "there can be %d readers at most", READERS);
        return;
    }
    s->cfg.job.readers_count++;
    reader->node = node(s, s->word[1]);
    if (strcmp(s->word[2], "never") == 0) {
        reader->kind = SIM_READER_NEVER;
    } else {
        reader->kind = SIM_READER_RATE;
        reader->rate = bytes(s, s->word[2]);
    }
}

/* Handles a line of the set-up. Returns true when its first word is known
 * here. */
static bool set_up(struct scenario *s)
{
    struct ov_cfg *overlay = &s->cfg.overlay;
    struct sim_job *job = &s->cfg.job;
    const char *what = s->word[0], *text = s->word[1];

    if (strcmp(what, "nodes") == 0)
        overlay->plan.nodes = count(s, text);
    else if (strcmp(what, "arity") == 0)
        overlay->plan.arity = count(s, text);
    else if (strcmp(what, "stdin") == 0)
        job->stdin_bytes = bytes(s, text);
    else if (strcmp(what, "output") == 0)
        job->out_bytes = bytes(s, text);
    else if (strcmp(what, "every") == 0)
        job->every_ns = time_ns(s, text);
    else if (strcmp(what, "window") == 0)
        overlay->down_frames = (uint16_t)count(s, text);
    else if (strcmp(what, "kept") == 0)
        overlay->kept_max = (uint16_t)count(s, text);
    else if (strcmp(what, "frame") == 0)
        overlay->frame_bytes = (uint32_t)bytes(s, text);
    else if (strcmp(what, "heartbeat") == 0)
        ov_times_set(&overlay->times, time_ns(s, text));
    else if (strcmp(what, "seed") == 0)
        s->cfg.seed = count(s, text);
    else if (strcmp(what, "jitter") == 0)
        s->cfg.network.jitter_ns = time_ns(s, text);
    else if (strcmp(what, "on-loss") == 0)
        job->ends_on_loss = strcmp(text, "continue") != 0;
    else if (strcmp(what, "reader") == 0)
        set_reader(s);
    else
        return false;
    return true;
}

/* --- what happens */

static void say(struct scenario *s, uint32_t n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(struct scenario *s, uint32_t n, const char *format, ...)
{
    va_list args;

    fprintf(s->out, "%10" PRIu64 " us  node %" PRIu32 ": ",
            s->world.step.now_ns / 1000, n);
    va_start(args, format);
    vfprintf(s->out, format, args);
    va_end(args);
    fputc('\n', s->out);
}

static void on_act(struct sim_world *w, uint32_t n, const struct ov_act *act)
{
    struct scenario *s = w->onlooker.arg;

    if (act->kind == OV_ACT_JOINED)
        say(s, n, "all have joined");
    else if (act->kind == OV_ACT_ORPHAN)
        say(s, n, "its parent %" PRIu32 " is gone", act->node);
    else if (act->kind == OV_ACT_ADOPTED && w->seen[n].welcomes > 1)
        say(s, n, "node %" PRIu32 " is its parent", act->node);
    else if (act->kind == OV_ACT_END)
        say(s, n, "ends, %s",
            act->flags == OV_END_ALONE ? "alone" : "declared lost");
    else if (act->kind == OV_ACT_LOST)
        say(s, n, "node %" PRIu32 " is lost", act->node);
    else if (act->kind == OV_ACT_STALL)
        say(s, n, "node %" PRIu32 " holds up stream %" PRIu32, act->node,
            act->stream);
    else if (act->kind == OV_ACT_LEAVE)
        say(s, n, "leaves");
}

static void start(struct scenario *s)
{
    const char *why;

    s->cfg.job.has_stdin = s->cfg.job.stdin_bytes > 0;
    s->cfg.overlay.children_max = (uint16_t)(2 * s->cfg.overlay.plan.arity);
    s->cfg.job.readers = s->readers;
    s->cfg.faults = s->faults;
    s->cfg.tallies = true;
    if (sim_cfg_check(&s->cfg, &why)) {
        fail(s, "%s", why);
        return;
    }
    if (sim_world_open(&s->world, &s->cfg)) {
        fail(s, "out of memory");
        return;
    }
    s->has_started = true;
    s->world.onlooker.on_act = on_act;
    s->world.onlooker.arg = s;
}

/* The position of a word of len bytes in a list; the list's length when it is
 * missing. */
static unsigned place(const char *const *list, unsigned length,
                      const char *text, size_t len)
{
    unsigned i = 0;

    while (i < length && (strncmp(list[i], text, len) != 0 || list[i][len]))
        i++;
    return i;
}

/* Reads WHOM:ITEM:N[+TIME]. Returns false when the text has another form. */
static bool aim_at_word(struct scenario *s, struct sim_fault *fault,
                        const char *text)
{
    static const char *const whoms[] = {"says", "hears", "claims"};
    static const char *const whens[] = {"", "hello", "ask", "answer",
                                        "welcome"};
    const char *word = strchr(text, ':');
    const char *nth = word == NULL ? NULL : strchr(++word, ':');
    char *end;

    if (nth == NULL)
        return false;
    fault->whom =
        (uint8_t)place(whoms, SIM_WHOM_KINDS, text, (size_t)(word - text) - 1);
    fault->when =
        (uint8_t)place(whens, SIM_WHEN_KINDS, word, (size_t)(nth - word));
    fault->nth = (uint32_t)strtoul(nth + 1, &end, 10);
    fault->at_ns = *end == '+' ? time_ns(s, end + 1) : 0;
    if (fault->whom == SIM_WHOM_KINDS || fault->when == SIM_WHEN_TIME ||
        fault->when == SIM_WHEN_KINDS || fault->nth == 0 ||
        (*end != '\0' && *end != '+'))
        fail(s, "'%s' is no node", text);
    return true;
}

/* Reads the node at which the fault strikes, or two nodes between which it
 * strikes. */
static void aim(struct scenario *s, struct sim_fault *fault, char *text)
{
    char *above;

    if (aim_at_word(s, fault, text))
        return;
    above = strchr(text, '-');
    if (above != NULL) {
        *above = '\0';
        fault->peer = node(s, above + 1);
    }
    fault->node = node(s, text);
    if (fault->node == 0)
        fail(s, "a fault must happen to a node other than the root");
}

static void strike(struct scenario *s, enum sim_fault_kind kind)
{
    struct sim_world *w = &s->world;
    struct sim_fault *fault = &s->faults[w->cfg.faults_count];

    if (w->cfg.faults_count == FAULTS) {
        fail(s, "there can be %d faults at most", FAULTS);
        return;
    }
    *fault = (struct sim_fault){.kind = (uint8_t)kind,
                                .at_ns = w->queue.now_ns,
                                .length_ns = SIM_NEVER,
                                .peer = TOPO_NONE,
                                .factor = 1};
    aim(s, fault, s->word[1]);
    if (kind == SIM_FAULT_SLOW)
        fault->factor = count(s, s->word[2]);
    else if (s->word[2][0] != '\0')
        fault->length_ns = time_ns(s, s->word[2]);
    if (fault->factor < 1 || fault->factor > SIM_SLOW_MAX)
        fail(s, "the factor of a slow node must be from 1 to 10000");
    if (s->has_failed)
        return;
    if (fault->when == SIM_WHEN_TIME)
        sim_push(w, fault->at_ns, SIM_ITEM_FAULT, fault->node,
                 (struct sim_item){.arg = w->cfg.faults_count});
    w->cfg.faults_count++;
}

static bool has_come(const struct scenario *s, const char *what)
{
    const struct sim_launcher *l = s->world.launcher;

    if (strcmp(what, "joined") == 0)
        return l->session.has_begun;
    if (strcmp(what, "lost") == 0)
        return l->lost_ns != SIM_NEVER;
    if (strcmp(what, "stalled") == 0)
        return l->stall_ns != SIM_NEVER;
    return false;
}

static bool is_condition(const char *what)
{
    return strcmp(what, "joined") == 0 || strcmp(what, "lost") == 0 ||
           strcmp(what, "stalled") == 0 || strcmp(what, "over") == 0;
}

/* Returns true unless the caller wants to stop the run, because its real time
 * is over. */
static bool has_time(struct scenario *s)
{
    struct sim_world *w = &s->world;

    if (w->counts.items % ITEMS_AT_ONCE == 0)
        w->end.is_stopped = !s->goes_on();
    return !w->end.is_stopped;
}

/* Runs until what the line names has happened, or for the time that it
 * gives. */
static void wait(struct scenario *s)
{
    struct sim_world *w = &s->world;
    const char *what = s->word[1];
    bool is_named = is_condition(what);
    uint64_t until_ns =
        w->queue.now_ns + (is_named ? WAIT_NS : time_ns(s, what));

    if (s->has_failed)
        return;
    w->cfg.limit_ns = until_ns;
    sim_push(w, until_ns, SIM_ITEM_FEED, 0, (struct sim_item){0});
    while (!has_come(s, what) && w->queue.now_ns < until_ns && has_time(s) &&
           sim_world_run(w, 1))
        ;
    if (w->end.why[0] != '\0') {
        fail(s, "a rule broke: %s", w->end.why);
    } else if (w->end.is_stopped ||
               (is_named && !has_come(s, what) &&
                (strcmp(what, "over") != 0 || !w->end.is_over))) {
        fail(s, "waited for '%s', which did not happen%s", what,
             w->end.is_stopped ? ": the limit of real time is reached" : "");
        sim_report_waits(w, s->out, 10);
    }
}

/* Handles a line about what happens. Returns true when its first word is known
 * here. */
static bool happen(struct scenario *s)
{
    const char *what = s->word[0];

    if (strcmp(what, "wait") == 0) {
        wait(s);
        return true;
    }
    if (strcmp(what, "console") == 0 && strcmp(s->word[1], "stuck") == 0) {
        s->world.cfg.job.console_stuck_ns = s->world.queue.now_ns;
        return true;
    }
    for (unsigned i = 0; i < SIM_FAULT_KINDS; i++) {
        if (strcmp(what, sim_fault_name((enum sim_fault_kind)i)) == 0) {
            strike(s, (enum sim_fault_kind)i);
            return true;
        }
    }
    return false;
}

/* --- what is expected */

static void expect_number(struct scenario *s, const char *text, uint64_t all,
                          uint64_t is)
{
    uint64_t want = strcmp(text, "all") == 0 ? all : bytes(s, text);

    if (is != want)
        fail(s, "the value is %" PRIu64, is);
}

static void expect_end(struct scenario *s, const char *text)
{
    static const char *const ends[] = {"well", "loss", "time", "stuck",
                                       "broken"};

    if (strcmp(text, ends[sim_report_end(&s->world)]) != 0)
        fail(s, "the run ends %s", ends[sim_report_end(&s->world)]);
}

/* Checks one of the counts of tally.h, by its name. */
static void expect_count(struct scenario *s, const char *what, const char *text)
{
    for (unsigned i = 0; i < SIM_COUNTS; i++) {
        if (strcmp(what, sim_count_name((enum sim_count)i)) == 0) {
            expect_number(s, text, 0, s->world.tally->count[i]);
            return;
        }
    }
    fail(s, "there is no 'expect %s'", what);
}

static void expect(struct scenario *s)
{
    const struct sim_world *w = &s->world;
    const struct sim_launcher *l = w->launcher;
    const char *what = s->word[1], *text = s->word[2];

    if (strcmp(what, "lost") == 0)
        expect_number(s, text, 0, l->lost_ns == SIM_NEVER ? 0 : l->lost);
    else if (strcmp(what, "given-up") == 0)
        expect_number(s, text, sim_nodes(w) - 1, l->given_up);
    else if (strcmp(what, "stall") == 0)
        expect_number(s, text, 0, l->stall_ns == SIM_NEVER ? 0 : l->stall_node);
    else if (strcmp(what, "read") == 0)
        expect_number(s, s->word[3], s->cfg.job.stdin_bytes,
                      w->processes[node(s, text)].stdin_bytes);
    else if (strcmp(what, "shown") == 0)
        expect_number(s, s->word[3], s->cfg.job.out_bytes,
                      w->processes[node(s, text)].got);
    else if (strcmp(what, "end") == 0)
        expect_end(s, text);
    else
        expect_count(s, what, text);
}

/* --- lines */

static void run_line(struct scenario *s)
{
    if (strcmp(s->word[0], "start") == 0 && !s->has_started)
        start(s);
    else if (strcmp(s->word[0], "expect") == 0 && s->has_started)
        expect(s);
    else if (s->has_started ? !happen(s) : !set_up(s))
        fail(s, "there is no '%s' here", s->word[0]);
    if (s->has_started && s->world.end.why[0] != '\0')
        fail(s, "a rule broke: %s", s->world.end.why);
}

static void read_line(struct scenario *s, char *text)
{
    static char none[] = "";
    char *save = NULL;

    text[strcspn(text, "#\n")] = '\0';
    for (unsigned i = 0; i < WORDS; i++) {
        char *word = strtok_r(i == 0 ? text : NULL, " \t", &save);

        s->word[i] = word == NULL ? none : word;
        if (word == NULL)
            text = none;
    }
    if (s->word[0][0] != '\0')
        run_line(s);
}

bool sim_scenario_run(FILE *in, FILE *out, bool (*goes_on)(void))
{
    struct scenario *s = calloc(1, sizeof(*s));
    char text[LINE_BYTES];
    bool is_good;

    OV_ASSERT(s != NULL);
    s->out = out;
    s->goes_on = goes_on;
    s->cfg = sim_cfg_default((struct topo_tree){.nodes = 2, .arity = 16});
    while (!s->has_failed && fgets(text, sizeof(text), in) != NULL) {
        s->line++;
        read_line(s, text);
    }
    if (s->has_started) {
        sim_world_finish(&s->world);
        if (s->world.end.why[0] != '\0')
            fail(s, "a rule broke: %s", s->world.end.why);
        sim_world_close(&s->world);
    } else {
        fail(s, "nothing was started");
    }
    is_good = !s->has_failed;
    free(s);
    return is_good;
}
