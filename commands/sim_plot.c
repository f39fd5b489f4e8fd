/* Keeps points of a run for drawing; writes scripts for gnuplot that include
 * the data. */
#include "commands/sim_plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

/* Eight colours that differ for the colour-blind too (Okabe and Ito). */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73",
                                      "#cc79a7", "#e69f00", "#56b4e9",
                                      "#000000", "#999999"};

enum {
    COLOURS = sizeof(colours) / sizeof(colours[0]),
    LOOKS_MAX = 1024, /* points kept of a run */
};

/* --- progress of the levels */

int sim_progress_open(struct sim_progress *progress, uint32_t levels)
{
    struct sim_progress *p = progress;

    sim_progress_close(p);
    *p = (struct sim_progress){.levels = levels, .every = 1};
    p->at_ns = calloc(LOOKS_MAX, sizeof(*p->at_ns));
    p->bytes = calloc((size_t)LOOKS_MAX * levels, sizeof(*p->bytes));
    return p->at_ns != NULL && p->bytes != NULL ? 0 : OV_ENOMEM;
}

/* Drops every second point, so that the remaining points are twice as far
 * apart. */
static void thin(struct sim_progress *p)
{
    p->count /= 2;
    for (uint32_t i = 0; i < p->count; i++) {
        p->at_ns[i] = p->at_ns[2 * i + 1];
        memcpy(&p->bytes[i * p->levels], &p->bytes[(2 * i + 1) * p->levels],
               p->levels * sizeof(*p->bytes));
    }
    p->every *= 2;
}

void sim_progress_look(struct sim_progress *progress,
                       const struct sim_world *world, bool is_last)
{
    struct sim_progress *p = progress;

    if (p->at_ns == NULL || (!is_last && p->looks++ % p->every != 0) ||
        !world->launcher->session.has_begun)
        return;
    if (p->count == LOOKS_MAX)
        thin(p);
    p->at_ns[p->count] = world->queue.now_ns;
    for (uint32_t i = 0; i < p->levels; i++)
        p->bytes[p->count * p->levels + i] =
            world->measure->level[i].stdin_bytes +
            world->measure->level[i].shown_bytes;
    p->count++;
}

void sim_progress_close(struct sim_progress *progress)
{
    free(progress->at_ns);
    free(progress->bytes);
    *progress = (struct sim_progress){.count = 0};
}

/* --- scripts */

void sim_plot_check(void)
{
    if (system("command -v gnuplot >/dev/null 2>&1") == 0)
        return;
    fputs("xylem: --plot draws with gnuplot, which is not there (install the "
          "package gnuplot-nox, or leave out --plot)\n",
          stderr);
    exit(2);
}

/* Writes a string of gnuplot, in which a quote is doubled. */
static void quote(FILE *script, const char *text)
{
    fputc('\'', script);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputc('\'', script);
        fputc(*text, script);
    }
    fputc('\'', script);
}

static FILE *begin(const char *path)
{
    FILE *script = popen("gnuplot", "w");

    if (script == NULL)
        return NULL;
    fputs("set terminal svg size 900,560 dynamic enhanced font "
          "'sans-serif,14' background rgb 'white'\nset output ",
          script);
    quote(script, path);
    fputs("\nset border 3 lc rgb '#444444'\nset tics nomirror tc rgb "
          "'#444444'\nset grid lc rgb '#dddddd' lt 1\nset key outside right "
          "top vertical spacing 1.2\n",
          script);
    return script;
}

static int end(FILE *script)
{
    return pclose(script) == 0 ? 0 : OV_ESYS;
}

/* --- one run */

int sim_plot_progress(const char *path, const struct sim_summary *run,
                      const struct sim_progress *progress)
{
    FILE *script = begin(path);
    bool is_first = true;

    if (script == NULL)
        return OV_ESYS;
    fprintf(script,
            "set title '%" PRIu32 " nodes, arity %" PRIu32
            ": how far each level is'\nset xlabel 'time since the launch, "
            "ms'\nset ylabel 'bytes that came, %% of all'\nset yrange "
            "[0:102]\n$data << EOD\n",
            run->nodes, run->arity);
    for (uint32_t i = 0; i < progress->count; i++) {
        double at_ms =
            ((double)progress->at_ns[i] - (double)run->joined_ns) / 1e6;

        fprintf(script, "%.6f", at_ms < 0 ? 0 : at_ms);
        for (uint32_t level = 1; level < run->levels; level++) {
            uint64_t per_node = run->stdin_bytes + run->out_bytes;
            double all = (double)per_node * run->level[level].nodes;
            uint64_t bytes = progress->bytes[i * progress->levels + level];

            fprintf(script, " %.4f", all > 0 ? 100 * (double)bytes / all : 0.0);
        }
        fputc('\n', script);
    }
    fputs("EOD\nplot ", script);
    for (uint32_t level = 1; level < run->levels; level++) {
        fprintf(script,
                "%s$data using 1:%" PRIu32
                " with lines lw 2 lc rgb '%s' title 'level %" PRIu32
                ", %" PRIu32 " nodes'",
                is_first ? "" : ", ", level + 1, colours[(level - 1) % COLOURS],
                level, run->level[level].nodes);
        is_first = false;
    }
    fputc('\n', script);
    return end(script);
}

/* --- many runs */

static uint64_t value_of(const struct sim_summary *run, const char *name)
{
    if (strcmp(name, "arity") == 0)
        return run->arity;
    if (strcmp(name, "nodes") == 0)
        return run->nodes;
    return run->stdin_bytes > 0 ? run->stdin_bytes : run->out_bytes;
}

static double time_ms(const struct sim_summary *run)
{
    uint64_t ns = 0;

    if (run->stdin_ns != SIM_NEVER)
        ns = run->stdin_ns;
    if (run->shown_ns != SIM_NEVER && run->shown_ns > ns)
        ns = run->shown_ns;
    return (double)ns / 1e6;
}

static void write_title(FILE *script, const char *name, uint64_t value)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    unsigned unit = 0;

    if (strcmp(name, "size") != 0) {
        fprintf(script, "'%s %" PRIu64 "'", name, value);
        return;
    }
    for (; unit < 3 && value >= 1024 && value % 1024 == 0; unit++)
        value /= 1024;
    fprintf(script, "'%" PRIu64 " %s'", value, units[unit]);
}

/* True when run i is the first run with its value of the option `line`. */
static bool is_new(const struct sim_summary *runs, uint32_t i, const char *line)
{
    for (uint32_t j = 0; j < i; j++) {
        if (value_of(&runs[j], line) == value_of(&runs[i], line))
            return false;
    }
    return true;
}

/* Sets the range of the axis to its values and little more: a logarithmic axis
 * would otherwise extend to the next power of ten. */
static void write_range(FILE *script, const char *x,
                        const struct sim_summary *runs, uint32_t count)
{
    uint64_t low = value_of(&runs[0], x), high = low;

    for (uint32_t i = 1; i < count; i++) {
        uint64_t value = value_of(&runs[i], x);

        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    fprintf(script, "set xrange [%.3f:%.3f]\n", (double)low / 1.3,
            (double)high * 1.3);
}

int sim_plot_sweep(const char *path, const char *x, const char *line,
                   const struct sim_summary *runs, uint32_t count)
{
    const char *by = line == NULL ? "size" : line;
    FILE *script = begin(path);
    unsigned lines = 0;

    if (script == NULL)
        return OV_ESYS;
    write_range(script, x, runs, count);
    fprintf(script,
            "set title 'time until everything is there'\nset logscale xy\nset "
            "xtics (");
    for (uint32_t i = 0; i < count; i++) {
        if (is_new(runs, i, x))
            fprintf(script, "%s%" PRIu64, i == 0 ? "" : ", ",
                    value_of(&runs[i], x));
    }
    fprintf(script,
            ")\nset xlabel '%s%s'\nset ylabel 'time since the launch, ms'\n", x,
            strcmp(x, "size") == 0 ? ", bytes" : "");
    for (uint32_t i = 0; i < count; i++) {
        if (!is_new(runs, i, by))
            continue;
        fprintf(script, "$line%u << EOD\n", lines++);
        for (uint32_t j = i; j < count; j++) {
            if (value_of(&runs[j], by) == value_of(&runs[i], by))
                fprintf(script, "%" PRIu64 " %.6f\n", value_of(&runs[j], x),
                        time_ms(&runs[j]));
        }
        fputs("EOD\n", script);
    }
    fputs("plot ", script);
    for (uint32_t i = 0, n = 0; i < count; i++) {
        if (!is_new(runs, i, by))
            continue;
        fprintf(script,
                "%s$line%u with linespoints lw 2 pt 7 ps 0.7 lc rgb '%s' "
                "title ",
                n == 0 ? "" : ", ", n, colours[n % COLOURS]);
        n++;
        write_title(script, by, value_of(&runs[i], by));
    }
    fputc('\n', script);
    return end(script);
}
