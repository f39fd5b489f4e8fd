/* The short form of a host list.
 *
 * A *number* of a name is a run of digits; two names differ in one number when
 * everything before and after that number is equal. A *term* stands for hosts
 * that are neighbours in the list: it has the name of its first host, and for
 * each number in that name how many values the number has. The last number
 * changes fastest, as when topo_hosts_add_text() expands brackets.
 *
 * Folding starts with a term for each host and goes through the numbers from
 * the last to the first. A term is joined with the term before it when both
 * have the same shape and each of its hosts differs from the matching host of
 * the other term only in the current number. So the order of any list is kept,
 * and each pass compares each name once.
 */
#include "topo/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NUMBERS_MAX: only this many numbers, from the start of a name, are folded.
 * DIGITS_MAX: only numbers with at most so many digits are, as the reader
 * accepts no longer ones. */
enum { NUMBERS_MAX = 4, DIGITS_MAX = 18, TEXT_FIRST = 256 };

struct term {
    uint32_t first;               /* index of the term's first host */
    uint32_t hosts;               /* how many hosts the term has: the product of
                                     `values` */
    uint32_t values[NUMBERS_MAX]; /* how many values each number has; 1: it is
                                     the same in all hosts */
};

struct digits {
    uint32_t at;
    uint32_t len; /* how many digits the number has; 0: the name has no such
                     number */
};

/* A text that grows; `bytes` is NULL once an allocation has failed. */
struct text {
    char *bytes; /* owned */
    size_t len;
    size_t max;
};

static void put_text(struct text *out, const char *bytes, size_t len)
{
    if (out->bytes != NULL && out->max - out->len < len + 1) {
        size_t max = out->max * 2 + len;
        char *larger = realloc(out->bytes, max);

        if (larger == NULL)
            free(out->bytes);
        out->bytes = larger;
        out->max = max;
    }
    if (out->bytes == NULL)
        return;
    memcpy(out->bytes + out->len, bytes, len);
    out->len += len;
    out->bytes[out->len] = '\0';
}

/* The number of digits that text starts with. */
static uint32_t digits_count(const char *text)
{
    return (uint32_t)strspn(text, "0123456789");
}

/* Finds the n-th number of a name. */
static struct digits number_find(const char *name, unsigned n)
{
    for (uint32_t at = 0; name[at] != '\0'; at++) {
        uint32_t len = digits_count(name + at);

        if (len > 0 && len <= DIGITS_MAX && n-- == 0)
            return (struct digits){at, len};
        if (len > 0)
            at += len - 1;
    }
    return (struct digits){0, 0};
}

/* True when a and b are equal, or differ only in their n-th number. */
static bool differ_only_in(const char *a, const char *b, unsigned n)
{
    struct digits in_a = number_find(a, n);

    if (in_a.len == 0 || strncmp(a, b, in_a.at) != 0)
        return false;

    uint32_t len = digits_count(b + in_a.at);

    return len > 0 && len <= DIGITS_MAX &&
           strcmp(a + in_a.at + in_a.len, b + in_a.at + len) == 0;
}

/* True when `next` has the hosts of `term` for one more value of number n.
 * `unit` is how many hosts `term` has for one value. */
static bool can_join(const struct topo_hosts *hosts, const struct term *term,
                     uint32_t unit, const struct term *next, unsigned n)
{
    if (next->hosts != unit)
        return false;
    for (uint32_t i = 0; i < unit; i++) {
        uint32_t a = term->first + i;
        uint32_t b = next->first + i;

        if (hosts->items[a].slots != hosts->items[b].slots ||
            !differ_only_in(topo_hosts_name(hosts, a),
                            topo_hosts_name(hosts, b), n))
            return false;
    }
    return true;
}

/* Joins terms that differ only in number n; returns how many terms remain. */
static uint32_t fold_number(const struct topo_hosts *hosts, struct term *terms,
                            uint32_t count, unsigned n)
{
    uint32_t kept = 0;
    uint32_t unit = terms[0].hosts;

    for (uint32_t i = 1; i < count; i++) {
        struct term *last = &terms[kept];

        if (can_join(hosts, last, unit, &terms[i], n)) {
            last->values[n]++;
            last->hosts += unit;
        } else {
            terms[++kept] = terms[i];
            unit = terms[kept].hosts;
        }
    }
    return kept + 1;
}

/* Folds hosts one by one into terms; returns how many there are. */
static uint32_t fold_terms(const struct topo_hosts *hosts, uint32_t count,
                           struct term *terms)
{
    for (uint32_t i = 0; i < count; i++)
        terms[i] = (struct term){i, 1, {1, 1, 1, 1}};
    for (unsigned n = NUMBERS_MAX; n-- > 0;)
        count = fold_number(hosts, terms, count, n);
    return count;
}

static uint64_t digits_value(const char *digits, uint32_t len)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < len; i++)
        value = value * 10 + (uint64_t)(digits[i] - '0');
    return value;
}

/* Numbers that follow each other inside a bracket. */
struct stretch {
    const char *first;
    const char *last;
    uint32_t first_len; /* digits of the first number; 0: the stretch is
                           empty */
    uint32_t last_len;
};

/* True when this number continues the stretch, as the reader expands
 * FIRST-LAST: it must be one more than the last, and have as many digits or,
 * when the numbers have no leading zeros, one digit more. */
static bool stretch_takes(const struct stretch *stretch, const char *number,
                          uint32_t len)
{
    bool is_padded = stretch->first_len > 1 && stretch->first[0] == '0';

    return stretch->first_len > 0 &&
           digits_value(number, len) ==
               digits_value(stretch->last, stretch->last_len) + 1 &&
           (len == stretch->last_len ||
            (len == stretch->last_len + 1 && number[0] != '0' && !is_padded));
}

static void put_stretch(const struct stretch *stretch, struct text *out)
{
    if (stretch->first_len == 0)
        return;
    put_text(out, stretch->first, stretch->first_len);
    if (stretch->last != stretch->first) {
        put_text(out, "-", 1);
        put_text(out, stretch->last, stretch->last_len);
    }
}

/* Writes the bracket for number n of a term. `at` is the index of the term's
 * first host in the list. */
static void put_bracket(const struct topo_hosts *hosts, const struct term *term,
                        unsigned n, uint32_t at, struct text *out)
{
    struct stretch stretch = {0};
    uint32_t stride = 1;

    for (unsigned d = n + 1; d < NUMBERS_MAX; d++)
        stride *= term->values[d];
    put_text(out, "[", 1);
    for (uint32_t k = 0; k < term->values[n]; k++) {
        const char *name = topo_hosts_name(hosts, term->first + k * stride);
        const char *number = name + at;
        uint32_t len = digits_count(number);

        if (!stretch_takes(&stretch, number, len)) {
            put_stretch(&stretch, out);
            if (k > 0)
                put_text(out, ",", 1);
            stretch.first = number;
            stretch.first_len = len;
        }
        stretch.last = number;
        stretch.last_len = len;
    }
    put_stretch(&stretch, out);
    put_text(out, "]", 1);
}

static void put_term(const struct topo_hosts *hosts, const struct term *term,
                     struct text *out)
{
    const char *name = topo_hosts_name(hosts, term->first);
    uint32_t slots = hosts->items[term->first].slots;
    uint32_t done = 0;

    for (unsigned n = 0; n < NUMBERS_MAX; n++) {
        if (term->values[n] == 1)
            continue;

        struct digits number = number_find(name, n);

        put_text(out, name + done, number.at - done);
        put_bracket(hosts, term, n, number.at, out);
        done = number.at + number.len;
    }
    put_text(out, name + done, strlen(name) - done);
    if (slots > 0) {
        char suffix[16];
        int len = snprintf(suffix, sizeof(suffix), ":%u", slots);

        put_text(out, suffix, (size_t)len);
    }
}

char *topo_hosts_fold(const struct topo_hosts *hosts, uint32_t count)
{
    struct text out = {.bytes = calloc(1, TEXT_FIRST), .max = TEXT_FIRST};
    struct term *terms = NULL;

    if (out.bytes == NULL || count == 0)
        return out.bytes;
    terms = malloc(count * sizeof(*terms));
    if (terms == NULL) {
        free(out.bytes);
        return NULL;
    }
    count = fold_terms(hosts, count, terms);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            put_text(&out, ",", 1);
        put_term(hosts, &terms[i], &out);
    }
    free(terms);
    return out.bytes;
}

/* True when the short form of the first count hosts fits into max_bytes. */
static bool is_within(const struct topo_hosts *hosts, uint32_t count,
                      size_t max_bytes)
{
    char *text = topo_hosts_fold(hosts, count);
    bool fits = text != NULL && strlen(text) <= max_bytes;

    free(text);
    return fits;
}

char *topo_hosts_fold_short(const struct topo_hosts *hosts, size_t max_bytes)
{
    uint32_t fits = 0;
    uint32_t over = 1;

    /* Doubles the number of hosts until they do not fit, then bisects. So the
     * cost depends on how many hosts are shown, not on how many are left out.
     */
    while (over < hosts->count && is_within(hosts, over, max_bytes)) {
        fits = over;
        over *= 2;
    }
    if (over >= hosts->count) {
        if (is_within(hosts, hosts->count, max_bytes))
            return topo_hosts_fold(hosts, hosts->count);
        over = hosts->count;
    }
    while (over - fits > 1) {
        uint32_t mid = fits + (over - fits) / 2;

        if (is_within(hosts, mid, max_bytes))
            fits = mid;
        else
            over = mid;
    }
    if (fits == 0)
        fits = hosts->count > 0; /* one host is shown in any case */

    struct text out = {.bytes = topo_hosts_fold(hosts, fits)};

    if (out.bytes != NULL && fits < hosts->count) {
        char more[32];
        int len =
            snprintf(more, sizeof(more), " and %u more", hosts->count - fits);

        out.len = strlen(out.bytes);
        out.max = out.len + 1;
        put_text(&out, more, (size_t)len);
    }
    return out.bytes;
}
