/* Reads fabrics in the syntax of Slurm's topology.conf. */
#include "topo/fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "overlay/base/err.h"

/* The longest line, with all its continuations, in bytes; and how many bytes of
 * a word or path a message shows. */
enum { LINE_BYTES_MAX = 4 << 20, SHOWN_MAX = 120 };

static const char blanks[] = " \t\r\n\v\f";
static const char usage[] =
    "a line is SwitchName=NAME with Nodes=HOSTS or Switches=NAMES";

/* The state of reading one file or text. */
struct reader {
    struct topo_fabric *fabric;
    FILE *in;
    const char *source;
    char *line;          /* owned */
    size_t line_max;     /* the size of this memory */
    unsigned long first; /* number of the line of the file where the current
                            line begins */
    unsigned long number;
    unsigned long *told; /* owned [above_max]: for each switch the number of the
                            line that describes it; 0: no line so far */
    char what[TOPO_WHY_MAX];
};

/* One line, split into its parts. A part that the line does not have is NULL.
 */
struct entry {
    const char *name, *nodes, *switches;
    size_t name_len, nodes_len, switches_len;
};

/* --- tables that grow with the lists
 * */

static int grow_table(uint32_t **table, uint32_t *max, uint32_t count)
{
    uint32_t more = *max == 0 ? 64 : *max;
    uint32_t *grown;

    while (more < count)
        more *= 2;
    if (more == *max)
        return 0;
    grown = reallocarray(*table, more, sizeof(**table));
    if (grown == NULL)
        return OV_ENOMEM;
    *table = grown;
    *max = more;
    return 0;
}

/* Finds the number of a switch; a new name gets a new number. */
static int switch_find(struct reader *rd, const char *name, size_t len,
                       uint32_t *number)
{
    struct topo_fabric *f = rd->fabric;
    uint32_t max = f->above_max;
    unsigned long *told;
    int rc;

    *number = topo_hosts_find(&f->switches, name, len);
    if (*number != TOPO_NONE)
        return 0;
    rc = topo_hosts_add(&f->switches, name, len, 0);
    if (rc == OV_EINVAL)
        topo_why(rd->what,
                 "\"%.*s\" is not a name for a switch: use letters, digits and "
                 "\"._-@\"",
                 (int)(len < SHOWN_MAX ? len : SHOWN_MAX), name);
    if (rc == 0)
        rc = grow_table(&f->above, &f->above_max, f->switches.count);
    if (rc == 0 && f->above_max > max) {
        told = reallocarray(rd->told, f->above_max, sizeof(*told));
        rc = told == NULL ? OV_ENOMEM : 0;
        rd->told = told == NULL ? rd->told : told;
    }
    if (rc != 0)
        return rc;
    *number = f->switches.count - 1;
    f->above[*number] = TOPO_NONE;
    rd->told[*number] = 0;
    return 0;
}

/* --- one line */

static bool is_key(const char *word, size_t len, const char *key)
{
    return len == strlen(key) && strncasecmp(word, key, len) == 0;
}

static int fault(struct reader *rd, const char *word, size_t len)
{
    topo_why(rd->what, "\"%.*s\" is not understood: %s",
             (int)(len < SHOWN_MAX ? len : SHOWN_MAX), word, usage);
    return OV_EINVAL;
}

/* Reads one KEY=VALUE. */
static int read_word(struct reader *rd, const char *word, size_t len,
                     struct entry *entry)
{
    const char *equals = memchr(word, '=', len);
    size_t key, value_len;
    const char *value;

    if (equals == NULL)
        return fault(rd, word, len);
    key = (size_t)(equals - word);
    value = equals + 1;
    value_len = len - key - 1;
    if (is_key(word, key, "LinkSpeed") || is_key(word, key, "Level"))
        return 0;
    if (is_key(word, key, "SwitchName") && entry->name == NULL) {
        entry->name = value;
        entry->name_len = value_len;
    } else if (is_key(word, key, "Nodes") && entry->nodes == NULL) {
        entry->nodes = value;
        entry->nodes_len = value_len;
    } else if (is_key(word, key, "Switches") && entry->switches == NULL) {
        entry->switches = value;
        entry->switches_len = value_len;
    } else {
        return fault(rd, word, len);
    }
    return 0;
}

/* Reads a list of names, in which no name may occur twice. */
static int read_list(struct reader *rd, const char *text, size_t len,
                     struct topo_hosts *names)
{
    int rc = topo_hosts_add_text(names, text, len, 0, rd->what);

    for (uint32_t i = 0; rc == 0 && i < names->count; i++) {
        if (names->items[i].slots == 0)
            continue;
        topo_why(rd->what,
                 "%.*s comes twice, or with slots: name it once, without "
                 "\":N\"",
                 SHOWN_MAX, topo_hosts_name(names, i));
        rc = OV_EINVAL;
    }
    return rc;
}

static int add_nodes(struct reader *rd, uint32_t s,
                     const struct topo_hosts *names)
{
    struct topo_fabric *f = rd->fabric;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < names->count; i++) {
        const char *name = topo_hosts_name(names, i);
        uint32_t known = topo_hosts_find(&f->hosts, name, strlen(name));

        if (known != TOPO_NONE) {
            topo_why(rd->what,
                     "%.*s is under the switch %.*s already: leave it out here "
                     "or there",
                     SHOWN_MAX, name, SHOWN_MAX,
                     topo_hosts_name(&f->switches, f->leaf[known]));
            return OV_EINVAL;
        }
        rc = topo_hosts_add(&f->hosts, name, strlen(name), 0);
        if (rc == 0)
            rc = grow_table(&f->leaf, &f->leaf_max, f->hosts.count);
        if (rc == 0)
            f->leaf[f->hosts.count - 1] = s;
    }
    return rc;
}

static int add_switches(struct reader *rd, uint32_t s,
                        const struct topo_hosts *names)
{
    struct topo_fabric *f = rd->fabric;
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < names->count; i++) {
        const char *name = topo_hosts_name(names, i);
        uint32_t below;

        rc = switch_find(rd, name, strlen(name), &below);
        if (rc == 0 && f->above[below] != TOPO_NONE) {
            topo_why(rd->what,
                     "the switch %.*s is under %.*s already: leave it out "
                     "here or there",
                     SHOWN_MAX, name, SHOWN_MAX,
                     topo_hosts_name(&f->switches, f->above[below]));
            rc = OV_EINVAL;
        }
        if (rc == 0)
            f->above[below] = s;
    }
    return rc;
}

static int add_entry(struct reader *rd, const struct entry *entry)
{
    bool has_switches = entry->switches_len > 0;
    const char *list = has_switches ? entry->switches : entry->nodes;
    size_t len = has_switches ? entry->switches_len : entry->nodes_len;
    struct topo_hosts names;
    uint32_t s;
    int rc;

    if (entry->name == NULL || (entry->nodes == NULL && !has_switches)) {
        topo_why(rd->what, "the line is incomplete: %s", usage);
        return OV_EINVAL;
    }
    rc = switch_find(rd, entry->name, entry->name_len, &s);
    if (rc != 0)
        return rc;
    if (rd->told[s] != 0) {
        topo_why(rd->what,
                 "the switch %.*s is described on line %lu already: give each "
                 "one line",
                 SHOWN_MAX, topo_hosts_name(&rd->fabric->switches, s),
                 rd->told[s]);
        return OV_EINVAL;
    }
    rd->told[s] = rd->first;
    if (len == 0)
        return 0;
    topo_hosts_init(&names);
    rc = read_list(rd, list, len, &names);
    if (rc == 0)
        rc = has_switches ? add_switches(rd, s, &names)
                          : add_nodes(rd, s, &names);
    topo_hosts_fini(&names);
    return rc;
}

static int read_line(struct reader *rd)
{
    struct entry entry = {0};
    const char *at = rd->line;
    bool is_blank = true;
    int rc = 0;

    for (;;) {
        size_t len;

        at += strspn(at, blanks);
        len = strcspn(at, blanks);
        if (len == 0 || rc != 0)
            break;
        is_blank = false;
        rc = read_word(rd, at, len, &entry);
        at += len;
    }
    return rc != 0 || is_blank ? rc : add_entry(rd, &entry);
}

/* --- all lines
 * */

/* As getline(), but fails for a line that is too long or has a NUL: a device
 * may deliver bytes without an end. */
static ssize_t get_line(char **line, size_t *max, FILE *in)
{
    size_t len = 0;
    int c = 0;

    while (c != '\n' && len <= LINE_BYTES_MAX && (c = getc(in)) != EOF) {
        if (len + 2 > *max) {
            char *grown = realloc(*line, 2 * len + 256);

            if (grown == NULL)
                return -1;
            *line = grown;
            *max = 2 * len + 256;
        }
        (*line)[len++] = (char)c;
        (*line)[len] = '\0';
        if (c == '\0')
            break;
    }
    return len > 0 && !ferror(in) ? (ssize_t)len : -1;
}

/* Reads the next line with its continuations, without comments. At the end of
 * the file the line is empty and *is_over true. */
static int next_line(struct reader *rd, bool *is_over)
{
    size_t len = 0, piece_max = 0;
    char *piece = NULL;
    bool goes_on = true;
    int rc = 0;

    rd->first = rd->number + 1;
    while (rc == 0 && goes_on) {
        ssize_t got = get_line(&piece, &piece_max, rd->in);

        *is_over = got < 0;
        if (got < 0 && !feof(rd->in)) {
            topo_why(rd->what, "cannot be read: %s", strerror(errno));
            rc = OV_ESYS;
        }
        if (got < 0)
            break;
        rd->number++;
        if (strlen(piece) != (size_t)got || got > LINE_BYTES_MAX) {
            topo_why(rd->what, "this is not a line of text");
            rc = OV_EINVAL;
            break;
        }
        got = (ssize_t)strcspn(piece, "#\r\n");
        goes_on = got > 0 && piece[got - 1] == '\\' && piece[got] != '#';
        piece[got - goes_on] = '\0';
        if (len + (size_t)got + 1 > LINE_BYTES_MAX) {
            topo_why(rd->what, "the line is longer than %d MiB",
                     LINE_BYTES_MAX >> 20);
            rc = OV_EINVAL;
        } else if (len + (size_t)got + 1 > rd->line_max) {
            size_t more = 2 * (len + (size_t)got + 1);
            char *grown = realloc(rd->line, more);

            rd->line = grown != NULL ? grown : rd->line;
            rd->line_max = grown != NULL ? more : rd->line_max;
            rc = grown != NULL ? 0 : OV_ENOMEM;
        }
        if (rc == 0)
            strcpy(rd->line + len, piece);
        len += (size_t)got - goes_on;
    }
    free(piece);
    if (rc == 0 && len > 0)
        *is_over = false;
    return rc;
}

/* Checks that each switch that is named is also described, and that no switch
 * is beneath itself. */
static int check_switches(struct reader *rd)
{
    const struct topo_fabric *f = rd->fabric;

    for (uint32_t s = 0; s < f->switches.count; s++) {
        const char *name = topo_hosts_name(&f->switches, s);
        uint32_t levels = 0;

        if (rd->told[s] == 0) {
            rd->first = rd->told[f->above[s]];
            topo_why(rd->what,
                     "the switch %.*s has no line of its own: add "
                     "SwitchName=%.*s Nodes=...",
                     SHOWN_MAX, name, SHOWN_MAX, name);
            return OV_EINVAL;
        }
        for (uint32_t at = s; at != TOPO_NONE; at = f->above[at]) {
            if (levels++ < TOPO_FABRIC_LEVELS_MAX)
                continue;
            rd->first = rd->told[s];
            topo_why(rd->what,
                     "more than %d switches are above the switch %.*s, or it "
                     "is above itself: check the lines with Switches=",
                     TOPO_FABRIC_LEVELS_MAX - 1, SHOWN_MAX, name);
            return OV_EINVAL;
        }
    }
    if (f->hosts.count > 0)
        return 0;
    topo_why(rd->what, "no host is named: %s", usage);
    return OV_EINVAL;
}

static int read_all(struct topo_fabric *fabric, FILE *in, const char *source,
                    char *why)
{
    struct reader rd = {.fabric = fabric, .in = in, .source = source};
    size_t len = strlen(source), hidden = len > SHOWN_MAX ? len - SHOWN_MAX : 0;
    bool is_over = false;
    int rc = 0;

    *fabric = (struct topo_fabric){0};
    topo_hosts_init(&fabric->hosts);
    topo_hosts_init(&fabric->switches);
    strcpy(rd.what, "out of memory, or more than a million names");
    while (rc == 0 && !is_over) {
        rc = next_line(&rd, &is_over);
        if (rc == 0 && !is_over)
            rc = read_line(&rd);
    }
    if (rc == 0)
        rc = check_switches(&rd);
    if (rc != 0) {
        topo_why(why, "%s%s:%lu: %s", hidden > 0 ? "..." : "", source + hidden,
                 rd.first, rd.what);
        topo_fabric_fini(fabric);
    }
    free(rd.line);
    free(rd.told);
    return rc;
}

int topo_fabric_read(struct topo_fabric *fabric, const char *path, char *why)
{
    FILE *in = fopen(path, "re");
    int rc;

    *fabric = (struct topo_fabric){0};
    if (in == NULL) {
        rc = errno == ENOENT ? OV_ENOENT : OV_ESYS;
        topo_why(why, "the topology file %.*s cannot be opened: %s", SHOWN_MAX,
                 path, strerror(errno));
        return rc;
    }
    rc = read_all(fabric, in, path, why);
    fclose(in);
    return rc;
}

int topo_fabric_parse(struct topo_fabric *fabric, const char *text,
                      size_t len_bytes, const char *source, char *why)
{
    /* For an empty text this reads /dev/null, because fmemopen() refuses a size
     * of 0. */
    FILE *in = len_bytes > 0 ? fmemopen((void *)(uintptr_t)text, len_bytes, "r")
                             : fopen("/dev/null", "re");
    int rc;

    *fabric = (struct topo_fabric){0};
    if (in == NULL) {
        topo_why(why, "out of memory");
        return OV_ENOMEM;
    }
    rc = read_all(fabric, in, source, why);
    fclose(in);
    return rc;
}

void topo_fabric_fini(struct topo_fabric *fabric)
{
    topo_hosts_fini(&fabric->hosts);
    topo_hosts_fini(&fabric->switches);
    free(fabric->leaf);
    free(fabric->above);
    *fabric = (struct topo_fabric){0};
}

/* --- hosts under switches
 * */

uint32_t topo_fabric_leaf(const struct topo_fabric *fabric, const char *host)
{
    const char *at = strrchr(host, '@');
    uint32_t i = topo_hosts_find(&fabric->hosts, host, strlen(host));

    if (at != NULL && i == TOPO_NONE) {
        host = at + 1;
        i = topo_hosts_find(&fabric->hosts, host, strlen(host));
    }
    if (i == TOPO_NONE)
        i = topo_hosts_find(&fabric->hosts, host, strcspn(host, "."));
    return i == TOPO_NONE ? TOPO_NONE : fabric->leaf[i];
}

int topo_under_init(struct topo_under *out, const struct topo_fabric *fabric,
                    const struct topo_hosts *hosts, uint32_t count,
                    const char *launcher)
{
    uint32_t switches = fabric->switches.count + 1;

    *out = (struct topo_under){.switches = switches};
    out->under = calloc((size_t)count + 1, sizeof(*out->under));
    out->above = calloc(switches, sizeof(*out->above));
    if (out->under == NULL || out->above == NULL) {
        topo_under_fini(out);
        return OV_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t leaf = topo_fabric_leaf(fabric, topo_hosts_name(hosts, i));

        out->under[i] = leaf == TOPO_NONE ? switches - 1 : leaf;
        out->unnamed += leaf == TOPO_NONE;
    }
    for (uint32_t s = 0; s < switches; s++) {
        uint32_t above = s < switches - 1 ? fabric->above[s] : TOPO_NONE;

        out->above[s] = above == TOPO_NONE ? s : above;
    }
    out->launcher = topo_fabric_leaf(fabric, launcher);
    return 0;
}

void topo_under_fini(struct topo_under *under)
{
    free(under->under);
    free(under->above);
    *under = (struct topo_under){0};
}
