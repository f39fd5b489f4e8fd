/* Sets of numbers as sorted ranges, in the caller's memory. */
#include "topo/ranges.h"

#include <string.h>

#include "overlay/base/err.h"

/* Enough bytes for a term of the text: two numbers of at most ten digits, a
 * dash and a comma. */
enum { TERM_BYTES_MAX = 24 };

void topo_ranges_init(struct topo_ranges *set, struct topo_range *items,
                      uint32_t max)
{
    *set = (struct topo_ranges){.items = items, .max = max};
}

/* The first range that ends at or above number; set->count when none does. */
static uint32_t lower_bound(const struct topo_ranges *set, uint32_t number)
{
    uint32_t low = 0;
    uint32_t high = set->count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (set->items[mid].last < number)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Replaces the ranges [from, to) by one range. */
static int replace(struct topo_ranges *set, uint32_t from, uint32_t to,
                   struct topo_range range)
{
    if (from == to && set->count == set->max)
        return OV_EFULL;
    memmove(set->items + from + 1, set->items + to,
            (set->count - to) * sizeof(set->items[0]));
    set->items[from] = range;
    set->count = set->count - (to - from) + 1;
    return 0;
}

int topo_ranges_add(struct topo_ranges *set, struct topo_range range)
{
    if (range.first > range.last || range.last > TOPO_NUMBER_MAX)
        return OV_EINVAL;

    /* Ranges that touch are joined, so this looks for ranges that have a number
     * next to `range`, too. */
    uint32_t below = range.first == 0 ? 0 : range.first - 1;
    bool is_last = set->count == 0 || set->items[set->count - 1].last < below;
    uint32_t from = is_last ? set->count : lower_bound(set, below);
    uint32_t to = from;

    while (to < set->count && set->items[to].first <= range.last + 1)
        to++;
    if (to > from) {
        if (set->items[from].first < range.first)
            range.first = set->items[from].first;
        if (set->items[to - 1].last > range.last)
            range.last = set->items[to - 1].last;
    }
    return replace(set, from, to, range);
}

uint32_t topo_ranges_terms(const char *text, size_t len_bytes)
{
    uint32_t terms = 1;

    for (size_t i = 0; i < len_bytes; i++)
        terms += text[i] == ',';
    return terms;
}

/* A text that is being read, and the first fault in it. */
struct reader {
    const char *text;
    size_t len_bytes;
    size_t at;
    struct topo_fault *fault;
};

static bool fail_at(struct reader *rd, size_t at, const char *what)
{
    *rd->fault = (struct topo_fault){.at_bytes = at, .what = what};
    return false;
}

/* If the next character is c, moves past it and returns true. */
static bool skip(struct reader *rd, char c)
{
    if (rd->at == rd->len_bytes || rd->text[rd->at] != c)
        return false;
    rd->at++;
    return true;
}

static bool read_number(struct reader *rd, const char *missing, uint32_t *out)
{
    size_t start = rd->at;
    uint64_t value = 0;

    for (; rd->at < rd->len_bytes; rd->at++) {
        char c = rd->text[rd->at];

        if (c < '0' || c > '9')
            break;
        value = value * 10 + (uint64_t)(c - '0');
        if (value > TOPO_NUMBER_MAX)
            return fail_at(rd, start,
                           "this number is too large (at most 4294967294)");
    }
    if (rd->at == start)
        return fail_at(rd, start, missing);
    *out = (uint32_t)value;
    return true;
}

static bool read_term(struct reader *rd, struct topo_range *out)
{
    size_t start = rd->at;

    if (!read_number(rd, "a number is missing here (write 0,4-7,10)",
                     &out->first))
        return false;
    out->last = out->first;
    if (skip(rd, '-') &&
        !read_number(rd, "the range has no end (write 4-7)", &out->last))
        return false;
    if (out->last < out->first)
        return fail_at(rd, start,
                       "the range runs backwards (write the lower number "
                       "first)");
    return true;
}

int topo_ranges_parse(struct topo_ranges *set, const char *text,
                      size_t len_bytes, struct topo_fault *fault)
{
    struct reader rd = {.text = text, .len_bytes = len_bytes, .fault = fault};
    struct topo_range range;
    int rc = 0;

    set->count = 0;
    do {
        if (!read_term(&rd, &range)) {
            rc = OV_EINVAL;
            break;
        }
        rc = topo_ranges_add(set, range);
    } while (rc == 0 && skip(&rd, ','));
    if (rc == 0 && rd.at < len_bytes) {
        fail_at(&rd, rd.at,
                "this is not part of a list (write numbers and ranges with "
                "commas between them: 0,4-7,10)");
        rc = OV_EINVAL;
    }
    if (rc != 0)
        set->count = 0;
    return rc;
}

/* Writes number's digits, without a NUL; returns how many. */
static size_t put_number(char *text, uint32_t number)
{
    char digits[TERM_BYTES_MAX];
    size_t len = 0;

    do {
        digits[len++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    for (size_t i = 0; i < len; i++)
        text[i] = digits[len - 1 - i];
    return len;
}

size_t topo_ranges_format(const struct topo_ranges *set, char *text,
                          size_t size_bytes)
{
    size_t total = 0;
    size_t used = 0; /* bytes written, always less than size_bytes */

    for (uint32_t i = 0; i < set->count; i++) {
        char term[TERM_BYTES_MAX];
        size_t len = 0;

        if (i > 0)
            term[len++] = ',';
        len += put_number(term + len, set->items[i].first);
        if (set->items[i].last > set->items[i].first) {
            term[len++] = '-';
            len += put_number(term + len, set->items[i].last);
        }
        if (used == total && used < size_bytes) {
            size_t room = size_bytes - used - 1;
            size_t part = len < room ? len : room;

            memcpy(text + used, term, part);
            used += part;
        }
        total += len;
    }
    if (size_bytes > 0)
        text[used] = '\0';
    return total;
}

bool topo_ranges_touches(const struct topo_ranges *set, struct topo_range range)
{
    uint32_t at = lower_bound(set, range.first);

    return range.first <= range.last && at < set->count &&
           set->items[at].first <= range.last;
}

uint32_t topo_ranges_size(const struct topo_ranges *set)
{
    uint32_t size = 0;

    for (uint32_t i = 0; i < set->count; i++)
        size += set->items[i].last - set->items[i].first + 1;
    return size;
}

uint32_t topo_ranges_nth(const struct topo_ranges *set, uint32_t n)
{
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t above = set->items[i].last - set->items[i].first;

        if (n <= above)
            return set->items[i].first + n;
        n -= above + 1;
    }
    return TOPO_NONE;
}

/* Numbers missing between range i and the one above it; at least 1. */
static uint32_t gap_above(const struct topo_ranges *set, uint32_t i)
{
    return set->items[i + 1].first - set->items[i].last - 1;
}

static uint32_t gaps_wider(const struct topo_ranges *set, uint32_t width)
{
    uint32_t wider = 0;

    for (uint32_t i = 0; i + 1 < set->count; i++)
        wider += gap_above(set, i) > width;
    return wider;
}

void topo_ranges_coarsen(struct topo_ranges *set, uint32_t ranges)
{
    if (set->count <= ranges)
        return;

    /* Finds, by bisection, the smallest width such that the gaps that are wider
     * can all stay. While there is room, gaps with exactly this width stay, the
     * first ones first. */
    uint32_t low = 0;
    uint32_t high = UINT32_MAX;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (gaps_wider(set, mid) < ranges)
            high = mid;
        else
            low = mid + 1;
    }

    uint32_t ties = ranges - 1 - gaps_wider(set, low);
    uint32_t kept = 0;

    for (uint32_t i = 1; i < set->count; i++) {
        uint32_t gap = set->items[i].first - set->items[i - 1].last - 1;
        bool is_kept = gap > low || (gap == low && ties > 0);

        if (is_kept && gap == low)
            ties--;
        if (is_kept)
            set->items[++kept] = set->items[i];
        else
            set->items[kept].last = set->items[i].last;
    }
    set->count = kept + 1;
}
