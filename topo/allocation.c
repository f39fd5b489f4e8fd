/* Reads the allocations of resource managers from the environment. */
#include "topo/allocation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

/* The longest line, with its end, in bytes; and how many bytes of a word a
 * message shows. */
enum { LINE_BYTES_MAX = 16384, SHOWN_MAX = 60 };

static const char blanks[] = " \t\r\n";

struct source {
    topo_getenv_fn get;
    void *arg;
    struct topo_hosts *hosts;
    char *why;
};

static const char *get_variable(const struct source *from, const char *name)
{
    const char *value = from->get(from->arg, name);

    return value == NULL || *value == '\0' ? NULL : value;
}

/* Returns the next word from *at on, and moves *at past it; NULL when there is
 * no further word. */
static const char *next_word(const char **at, size_t *len_bytes)
{
    const char *word = *at + strspn(*at, blanks);

    *len_bytes = strcspn(word, blanks);
    *at = word + *len_bytes;
    return *len_bytes == 0 ? NULL : word;
}

/* The value of a word that is a number, digits only and at most `max`; else -1.
 */
static long number_of(const char *word, size_t len_bytes, long max)
{
    long value = 0;

    for (size_t i = 0; i < len_bytes; i++) {
        if (word[i] < '0' || word[i] > '9')
            return -1;
        value = value * 10 + (word[i] - '0');
        if (value > max)
            return -1;
    }
    return len_bytes == 0 ? -1 : value;
}

static int add_host(struct source *from, const char *name, size_t len_bytes,
                    uint32_t slots)
{
    int rc = topo_hosts_add(from->hosts, name, len_bytes, slots);

    if (rc == OV_EINVAL)
        topo_why(from->why, "\"%.*s\" is not a host name",
                 (int)(len_bytes < SHOWN_MAX ? len_bytes : SHOWN_MAX), name);
    else if (rc != 0)
        topo_why(from->why, "%s", ov_strerror(rc));
    return rc;
}

/* --- reading files */

/* Called for each line of a file. */
typedef int (*line_fn)(struct source *from, const char *line);

static int read_lines(struct source *from, FILE *in, line_fn fn)
{
    char line[LINE_BYTES_MAX];
    int rc = 0;

    while (rc == 0 && fgets(line, sizeof(line), in) != NULL) {
        if (strchr(line, '\n') == NULL && !feof(in)) {
            topo_why(from->why, "a line has more than %d bytes",
                     LINE_BYTES_MAX - 2);
            return OV_EINVAL;
        }
        rc = fn(from, line);
    }
    if (rc == 0 && ferror(in)) {
        topo_why(from->why, "cannot be read: %s", strerror(errno));
        return OV_ESYS;
    }
    return rc;
}

/* Reads the file that a variable names, line by line. */
static int read_file(struct source *from, const char *variable, line_fn fn)
{
    char what[TOPO_WHY_MAX] = "";
    const char *path = get_variable(from, variable);
    char *why = from->why;
    FILE *in = fopen(path, "re");
    int rc;

    if (in == NULL) {
        topo_why(why, "%s names %.200s, which cannot be opened: %s", variable,
                 path, strerror(errno));
        return errno == ENOENT ? OV_ENOENT : OV_ESYS;
    }
    from->why = what;
    rc = read_lines(from, in, fn);
    fclose(in);
    from->why = why;
    if (rc != 0)
        topo_why(why, "%s, %.150s: %.250s", variable, path, what);
    return rc;
}

/* Reads the first word of a line as a host with one slot, and ignores the rest
 * of the line. */
static int read_slot(struct source *from, const char *line)
{
    size_t len;
    const char *host = next_word(&line, &len);

    return host == NULL ? 0 : add_host(from, host, len, 1);
}

/* --- the resource managers */

/* Reads the next count of a text like "2(x3),1", in which the count 2 is for
 * three hosts. *left becomes the number of hosts after the first that the count
 * is for. */
static int next_count(struct source *from, const char **at, uint32_t *count,
                      uint32_t *left)
{
    size_t len = strspn(*at, "0123456789");
    long value = number_of(*at, len, TOPO_SLOTS_MAX), times = 1;
    const char *p = *at + len;

    if (value >= 0 && p[0] == '(' && p[1] == 'x') {
        len = strspn(p + 2, "0123456789");
        times = number_of(p + 2, len, TOPO_HOSTS_MAX);
        p += 2 + len;
        if (*p++ != ')')
            times = -1;
    }
    if (value < 0 || times < 1 || (*p != ',' && *p != '\0')) {
        topo_why(
            from->why,
            "\"%.*s\" is not a list of counts (counts are written as 2(x3),1)",
            SHOWN_MAX, *at);
        return OV_EINVAL;
    }
    *at = p + (*p == ',');
    *count = (uint32_t)value;
    *left = (uint32_t)times;
    return 0;
}

/* Sets the slots of the hosts, in order, by the counts in a text: count /
 * divisor, but at least one slot. */
static int set_counts(struct source *from, const char *text, uint32_t divisor)
{
    uint32_t count = 0, left = 0;

    for (uint32_t i = 0; i < from->hosts->count; i++) {
        int rc = 0;

        if (left == 0 && *text == '\0') {
            topo_why(from->why, "there are counts for only %u of the %u hosts",
                     i, from->hosts->count);
            return OV_EINVAL;
        }
        if (left == 0)
            rc = next_count(from, &text, &count, &left);
        if (rc != 0)
            return rc;
        left--;
        from->hosts->items[i].slots = count < divisor ? 1 : count / divisor;
    }
    if (left > 0 || *text != '\0') {
        topo_why(from->why, "there are counts for more than the %u hosts",
                 from->hosts->count);
        return OV_EINVAL;
    }
    return 0;
}

/* Reads the hosts, and their slots: the number of tasks on each node or, if
 * Slurm does not say that, the number for which a node has processors. */
static int read_slurm(struct source *from)
{
    static const char tasks[] = "SLURM_TASKS_PER_NODE";
    static const char cpus[] = "SLURM_JOB_CPUS_PER_NODE";
    char what[TOPO_WHY_MAX] = "", *why = from->why;
    const char *name = "SLURM_JOB_NODELIST", *each = NULL;
    long divisor = 1;
    int rc;

    if (get_variable(from, name) == NULL)
        name = "SLURM_NODELIST";
    rc = topo_hosts_parse(from->hosts, get_variable(from, name), what);
    from->why = what;
    if (rc == 0 && get_variable(from, tasks) != NULL) {
        name = tasks;
    } else if (rc == 0 && get_variable(from, cpus) != NULL) {
        name = cpus;
        each = get_variable(from, "SLURM_CPUS_PER_TASK");
    }
    if (each != NULL)
        divisor = number_of(each, strlen(each), TOPO_SLOTS_MAX);
    if (rc == 0 && (name == tasks || name == cpus))
        rc = set_counts(from, get_variable(from, name),
                        divisor < 1 ? 1 : (uint32_t)divisor);
    from->why = why;
    if (rc != 0)
        topo_why(why, "%s: %.400s", name, what);
    return rc;
}

/* Reads "hostA 4 hostB 2". */
static int read_pairs(struct source *from, const char *text)
{
    size_t name_len, len;
    const char *name;
    int rc = 0;

    while (rc == 0 && (name = next_word(&text, &name_len)) != NULL) {
        const char *word = next_word(&text, &len);
        long slots = word == NULL ? -1 : number_of(word, len, TOPO_SLOTS_MAX);

        if (slots < 0) {
            topo_why(from->why, "no number of processors follows \"%.*s\"",
                     (int)(name_len < SHOWN_MAX ? name_len : SHOWN_MAX), name);
            return OV_EINVAL;
        }
        if (slots > 0)
            rc = add_host(from, name, name_len, (uint32_t)slots);
    }
    return rc;
}

/* Reads "hostA hostA hostB". */
static int read_names(struct source *from, const char *text)
{
    const char *name;
    size_t len;
    int rc = 0;

    while (rc == 0 && (name = next_word(&text, &len)) != NULL)
        rc = add_host(from, name, len, 1);
    return rc;
}

static int read_lsf(struct source *from)
{
    static const char pairs[] = "LSB_MCPU_HOSTS", names[] = "LSB_HOSTS";
    char what[TOPO_WHY_MAX] = "", *why = from->why;
    bool has_pairs = get_variable(from, pairs) != NULL;
    int rc;

    if (get_variable(from, "LSB_DJOB_HOSTFILE") != NULL)
        return read_file(from, "LSB_DJOB_HOSTFILE", read_slot);
    from->why = what;
    rc = has_pairs ? read_pairs(from, get_variable(from, pairs))
                   : read_names(from, get_variable(from, names));
    from->why = why;
    if (rc != 0)
        topo_why(why, "%s: %.400s", has_pairs ? pairs : names, what);
    return rc;
}

/* Reads the file of PBS. Some versions write each host only once, and a
 * variable says how many processors each host has. */
static int read_pbs(struct source *from)
{
    const char *each = get_variable(from, "PBS_NUM_PPN");
    int rc = read_file(from, "PBS_NODEFILE", read_slot);
    long ppn =
        each == NULL ? -1 : number_of(each, strlen(each), TOPO_SLOTS_MAX);

    for (uint32_t i = 0; i < from->hosts->count; i++) {
        if (from->hosts->items[i].slots > 1)
            ppn = -1;
    }
    for (uint32_t i = 0; rc == 0 && ppn > 0 && i < from->hosts->count; i++)
        from->hosts->items[i].slots = (uint32_t)ppn;
    return rc;
}

/* Reads "host slots queue processors". */
static int read_sge_line(struct source *from, const char *line)
{
    size_t name_len, len = 0;
    const char *name = next_word(&line, &name_len);
    const char *word = next_word(&line, &len);
    long slots = word == NULL ? -1 : number_of(word, len, TOPO_SLOTS_MAX);

    if (name == NULL)
        return 0;
    if (slots < 0) {
        topo_why(from->why, "no number of slots follows \"%.*s\"",
                 (int)(name_len < SHOWN_MAX ? name_len : SHOWN_MAX), name);
        return OV_EINVAL;
    }
    return slots == 0 ? 0 : add_host(from, name, name_len, (uint32_t)slots);
}

static int read_sge(struct source *from)
{
    return read_file(from, "PE_HOSTFILE", read_sge_line);
}

/* A resource manager is present when any of its variables is set. */
static const struct {
    const char *name;
    const char *variables[4];
    int (*read)(struct source *from);
} managers[TOPO_MANAGERS] = {
    [TOPO_MANAGER_NONE] = {"none", {NULL}, NULL},
    [TOPO_MANAGER_SLURM] = {"Slurm",
                            {"SLURM_JOB_NODELIST", "SLURM_NODELIST"},
                            read_slurm},
    [TOPO_MANAGER_LSF] = {"LSF",
                          {"LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS", "LSB_HOSTS"},
                          read_lsf},
    [TOPO_MANAGER_PBS] = {"PBS", {"PBS_NODEFILE"}, read_pbs},
    [TOPO_MANAGER_SGE] = {"SGE", {"PE_HOSTFILE"}, read_sge},
};

const char *topo_manager_name(enum topo_manager manager)
{
    return managers[manager].name;
}

static bool is_there(const struct source *from, unsigned manager)
{
    for (unsigned i = 0; managers[manager].variables[i] != NULL; i++) {
        if (get_variable(from, managers[manager].variables[i]) != NULL)
            return true;
    }
    return false;
}

int topo_allocation_read(topo_getenv_fn fn, void *arg, struct topo_hosts *hosts,
                         enum topo_manager *manager, char *why)
{
    struct source from = {fn, arg, hosts, why};
    unsigned m = 1;
    int rc = 0;

    topo_hosts_init(hosts);
    *manager = TOPO_MANAGER_NONE;
    while (m < TOPO_MANAGERS && !is_there(&from, m))
        m++;
    if (m == TOPO_MANAGERS)
        return 0;
    rc = managers[m].read(&from);
    if (rc == 0 && hosts->count == 0) {
        topo_why(why, "the allocation of %s names no host", managers[m].name);
        rc = OV_EINVAL;
    }
    if (rc != 0)
        topo_hosts_fini(hosts);
    else
        *manager = (enum topo_manager)m;
    return rc;
}

/* --- choosing from an allocation */

static void why_outside(const struct topo_hosts *outside,
                        enum topo_manager manager, char *why)
{
    char *list = topo_hosts_fold_short(outside, 200);

    topo_why(why,
             "%s: not in the allocation that %s has given this job (--hosts "
             "and --hostfile choose among its hosts)",
             list == NULL ? "some hosts" : list, topo_manager_name(manager));
    free(list);
}

/* Adds the i-th host of `wanted` to `out` when the allocation has it, else to
 * `outside`. */
static int choose_host(const struct topo_hosts *hosts,
                       const struct topo_hosts *wanted, uint32_t i,
                       struct topo_hosts *out, struct topo_hosts *outside,
                       char *why)
{
    const char *name = topo_hosts_name(wanted, i);
    uint32_t at = topo_hosts_find(hosts, name, strlen(name));
    uint32_t slots = wanted->items[i].slots, has;

    if (at == TOPO_NONE)
        return topo_hosts_add(outside, name, strlen(name), 0);
    has = hosts->items[at].slots;
    if (has > 0 && slots > has) {
        topo_why(why, "%s: %u slots are asked for, the allocation has %u there",
                 name, slots, has);
        return OV_EINVAL;
    }
    return topo_hosts_add(out, name, strlen(name), slots > 0 ? slots : has);
}

int topo_allocation_choose(struct topo_hosts *hosts,
                           const struct topo_hosts *wanted,
                           enum topo_manager manager, char *why)
{
    struct topo_hosts out, outside;
    int rc = 0;

    topo_hosts_init(&out);
    topo_hosts_init(&outside);
    topo_why(why, "out of memory");
    for (uint32_t i = 0; rc == 0 && i < wanted->count; i++)
        rc = choose_host(hosts, wanted, i, &out, &outside, why);
    if (rc == 0 && outside.count > 0) {
        why_outside(&outside, manager, why);
        rc = OV_EINVAL;
    }
    topo_hosts_fini(&outside);
    if (rc != 0) {
        topo_hosts_fini(&out);
        return rc;
    }
    topo_hosts_fini(hosts);
    *hosts = out;
    return 0;
}
