/* Reads the text of a host list: names, brackets, slots, and terms that remove
 * hosts.
 *
 * A term is read whole and checked before its first host is added, so that
 * "node[1-999999999]" is refused at once.
 */
#include "topo/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "overlay/base/err.h"

/* Numbers with more digits would not fit in 64 bits. */
enum { DIGITS_MAX = 18, SPANS_FIRST = 16 };

/* Numbers between two commas of a bracket. */
struct span {
    uint64_t first;
    uint64_t last;
    uint64_t step;
    unsigned width; /* write numbers with at least this many digits, by leading
                       zeros */
};

/* A piece of a term: fixed text, then the spans of a bracket (the last piece
 * has none). */
struct dim {
    size_t text_at;
    size_t text_len;
    size_t spans_at;
    size_t spans;
    uint64_t numbers; /* how many numbers all spans of the piece have
                         together */
};

struct parser {
    struct topo_hosts *hosts; /* borrowed */
    const char *text;         /* borrowed */
    size_t len;
    size_t at;
    char *why;             /* borrowed, may be NULL */
    uint32_t slots_unsaid; /* slots for terms without a number of slots */
    /* Gets the hosts of terms that begin with '^'; borrowed. NULL: a term
     * cannot begin so. */
    struct topo_hosts *out;

    /* The term being read. */
    size_t term_at;
    struct dim dims[TOPO_HOST_DIMS_MAX + 1];
    size_t dims_count;
    struct span *spans; /* owned */
    size_t spans_count;
    size_t spans_max;
    uint32_t slots;
    char name[TOPO_HOST_NAME_MAX + DIGITS_MAX];
};

static int fail_at(struct parser *p, size_t at, const char *what)
{
    topo_why_at(p->why, p->text, at, what);
    return OV_EINVAL;
}

/* The next character; NUL at the end. */
static char peek(const struct parser *p)
{
    return p->at < p->len ? p->text[p->at] : '\0';
}

static bool skip(struct parser *p, char c)
{
    if (p->at == p->len || p->text[p->at] != c)
        return false;
    p->at++;
    return true;
}

static void skip_blanks(struct parser *p)
{
    while (peek(p) == ' ' || peek(p) == '\t' || peek(p) == '\n')
        p->at++;
}

static int read_number(struct parser *p, const char *missing, uint64_t *value,
                       unsigned *digits)
{
    size_t start = p->at;

    *value = 0;
    for (; peek(p) >= '0' && peek(p) <= '9'; p->at++) {
        if (p->at - start == DIGITS_MAX)
            return fail_at(p, start, "this number has more than 18 digits");
        *value = *value * 10 + (uint64_t)(peek(p) - '0');
    }
    *digits = (unsigned)(p->at - start);
    return *digits == 0 ? fail_at(p, start, missing) : 0;
}

static int push_span(struct parser *p, struct span span)
{
    if (p->spans_count == p->spans_max) {
        size_t max = p->spans_max == 0 ? SPANS_FIRST : p->spans_max * 2;
        struct span *spans = realloc(p->spans, max * sizeof(*spans));

        if (spans == NULL)
            return OV_ENOMEM;
        p->spans = spans;
        p->spans_max = max;
    }
    p->spans[p->spans_count++] = span;
    return 0;
}

/* Reads FIRST, FIRST-LAST or FIRST-LAST/STEP. */
static int read_span(struct parser *p, struct span *out)
{
    size_t start = p->at;
    unsigned width = 0;
    unsigned last_width = 0;
    int rc = read_number(p, "a number is missing here (write node[1-4,7])",
                         &out->first, &width);

    out->last = out->first;
    out->step = 1;
    out->width = width;
    if (rc != 0 || !skip(p, '-'))
        return rc;
    rc = read_number(p, "the range has no end (write node[1-4])", &out->last,
                     &last_width);
    if (rc != 0)
        return rc;
    if (out->last < out->first)
        return fail_at(p, start,
                       "the range runs backwards (write the lower number "
                       "first)");

    bool is_padded = p->text[start] == '0' && width > 1;

    if (p->text[p->at - last_width] == '0')
        is_padded = true;
    if (is_padded && width != last_width)
        return fail_at(p, start,
                       "with leading zeros both ends need the same number of "
                       "digits (write node[001-100])");
    if (skip(p, '/')) {
        size_t step_at = p->at;

        rc = read_number(p, "the step is missing (write node[0-10/2])",
                         &out->step, &last_width);
        if (rc == 0 && out->step == 0)
            return fail_at(p, step_at,
                           "a step of 0 is not possible (write node[0-10/2])");
    }
    return rc;
}

/* Reads the spans after a '[' up to its ']'. */
static int read_bracket(struct parser *p, struct dim *dim)
{
    dim->spans_at = p->spans_count;
    do {
        struct span span;
        size_t start = p->at;
        int rc = read_span(p, &span);

        if (rc == 0)
            rc = push_span(p, span);
        if (rc != 0)
            return rc;

        uint64_t numbers = (span.last - span.first) / span.step + 1;

        dim->numbers += numbers;
        if (numbers > TOPO_HOSTS_MAX)
            return fail_at(p, start,
                           "a list can have at most 1000000 hosts, and this "
                           "term makes more");
    } while (skip(p, ','));
    dim->spans = p->spans_count - dim->spans_at;
    if (skip(p, ']'))
        return 0;
    return fail_at(p, p->at,
                   p->at == p->len ? "the ']' is missing (write node[1-4])"
                                   : "this is not allowed in brackets (write "
                                     "node[1-4,7] or node[0-10/2])");
}

/* True at the end of a term. */
static bool is_end(const struct parser *p)
{
    char c = peek(p);

    return p->at == p->len || c == ',' || c == ' ' || c == '\t' || c == '\n';
}

static int read_slots(struct parser *p)
{
    size_t start = p->at;
    uint64_t value = 0;
    unsigned digits = 0;
    int rc = read_number(p, "the number of slots is missing (write node:4)",
                         &value, &digits);

    if (rc != 0)
        return rc;
    if (value == 0 || value > TOPO_SLOTS_MAX)
        return fail_at(p, start, "a host has between 1 and 1000000 slots");
    if (peek(p) == ':')
        return fail_at(p, p->at,
                       "only one ':' is allowed, before the slots (an IPv6 "
                       "address needs a name)");
    if (!is_end(p))
        return fail_at(p, p->at, "slots must be a number (write node:4)");
    p->slots = (uint32_t)value;
    return 0;
}

/* Checks that the next character, which is no part of a name, may follow a
 * name. */
static int check_stop(struct parser *p)
{
    if (is_end(p))
        return 0;
    if (peek(p) == ']')
        return fail_at(p, p->at, "this ']' has no '[' (write node[1-4])");
    if (peek(p) == '{' || peek(p) == '}')
        return fail_at(p, p->at,
                       "braces are for a shell (write node[1-4,7], in quotes)");
    return fail_at(p, p->at,
                   "this character cannot be part of a host's name (letters, "
                   "digits and ._-@ can)");
}

/* Reads the pieces of one term, up to its comma or end. */
static int read_term(struct parser *p)
{
    p->term_at = p->at;
    p->dims_count = 0;
    p->spans_count = 0;
    p->slots = p->slots_unsaid;
    if (peek(p) == '-')
        return fail_at(p, p->at, "a host's name cannot start with '-'");
    for (;;) {
        struct dim *dim = &p->dims[p->dims_count++];

        *dim = (struct dim){.text_at = p->at};
        while (topo_host_has(peek(p)))
            p->at++;
        dim->text_len = p->at - dim->text_at;
        if (peek(p) != '[')
            break;
        if (p->dims_count == TOPO_HOST_DIMS_MAX + 1)
            return fail_at(p, p->at, "a name has 8 brackets at most");
        p->at++;

        int rc = read_bracket(p, dim);

        if (rc != 0)
            return rc;
    }
    if (p->at == p->term_at && (is_end(p) || peek(p) == ':'))
        return fail_at(p, p->at,
                       "a host's name is missing (write node1,node2)");
    return skip(p, ':') ? read_slots(p) : check_stop(p);
}

/* Writes the digits of a number, with leading zeros up to `width` digits;
 * returns how many. */
static size_t put_number(char *text, uint64_t number, unsigned width)
{
    char digits[DIGITS_MAX];
    size_t len = 0;

    do {
        digits[len++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (len < width)
        digits[len++] = '0';
    for (size_t i = 0; i < len; i++)
        text[i] = digits[len - 1 - i];
    return len;
}

static int add_name(struct parser *p, size_t len)
{
    int rc = topo_hosts_add(p->hosts, p->name, len, p->slots);

    if (rc == OV_EFULL)
        topo_why_at(p->why, p->text, p->term_at,
                    p->hosts->count == TOPO_HOSTS_MAX
                        ? "a list can have at most 1000000 hosts"
                        : "this gives a host more than 1000000 slots");
    return rc;
}

/* Adds all hosts whose names start with the first len bytes of p->name and
 * continue with the pieces from number d. Recurses once for each bracket. */
static int expand(struct parser *p, size_t d, size_t len)
{
    const struct dim *dim = &p->dims[d];
    int rc = 0;

    if (len + dim->text_len >= TOPO_HOST_NAME_MAX)
        return fail_at(p, p->term_at,
                       "this host's name has more than 253 bytes");
    memcpy(p->name + len, p->text + dim->text_at, dim->text_len);
    len += dim->text_len;
    if (d + 1 == p->dims_count)
        return add_name(p, len);
    for (size_t i = 0; i < dim->spans && rc == 0; i++) {
        struct span span = p->spans[dim->spans_at + i];
        uint64_t steps = (span.last - span.first) / span.step;

        for (uint64_t k = 0; k <= steps && rc == 0; k++) {
            size_t digits = put_number(p->name + len,
                                       span.first + k * span.step, span.width);

            rc = expand(p, d + 1, len + digits);
        }
    }
    return rc;
}

static int add_term(struct parser *p)
{
    uint64_t numbers = 1;
    int rc = read_term(p);

    if (rc != 0)
        return rc;
    if (p->hosts == p->out && p->slots > 0)
        return fail_at(p, p->term_at,
                       "'^' takes out a host with all its slots (write "
                       "^node)");
    for (size_t d = 0; d + 1 < p->dims_count; d++) {
        numbers *= p->dims[d].numbers;
        if (numbers > TOPO_HOSTS_MAX)
            return fail_at(p, p->term_at,
                           "a list can have at most 1000000 hosts, and this "
                           "term makes more");
    }
    return expand(p, 0, 0);
}

/* Reads a term. When it begins with '^' its hosts go to the list of hosts to
 * remove. */
static int add_any_term(struct parser *p)
{
    struct topo_hosts *hosts = p->hosts;
    int rc;

    if (p->out != NULL && skip(p, '^'))
        p->hosts = p->out;
    rc = add_term(p);
    p->hosts = hosts;
    return rc;
}

static int add_terms(struct parser *p)
{
    int rc = 0;

    do {
        skip_blanks(p);
        rc = add_any_term(p);
        skip_blanks(p);
    } while (rc == 0 && skip(p, ','));
    if (rc == 0 && p->at < p->len)
        rc = fail_at(p, p->at, "a comma is missing between two hosts");
    if (rc == OV_ENOMEM)
        topo_why(p->why, "out of memory for the list of hosts");
    free(p->spans);
    return rc;
}

int topo_hosts_add_text(struct topo_hosts *hosts, const char *text,
                        size_t len_bytes, uint32_t slots, char *why)
{
    struct parser p = {.hosts = hosts,
                       .text = text,
                       .len = len_bytes,
                       .why = why,
                       .slots_unsaid = slots};

    return add_terms(&p);
}

int topo_hosts_parse(struct topo_hosts *hosts, const char *text, char *why)
{
    struct topo_hosts out;
    struct parser p = {.hosts = hosts,
                       .text = text,
                       .len = strlen(text),
                       .why = why,
                       .out = &out};
    int rc;

    topo_hosts_init(hosts);
    topo_hosts_init(&out);
    rc = add_terms(&p);
    if (rc == 0 && out.count > 0)
        rc = topo_hosts_exclude(hosts, &out, "'^' in a list of hosts", why);
    topo_hosts_fini(&out);
    if (rc != 0)
        topo_hosts_fini(hosts);
    return rc;
}
