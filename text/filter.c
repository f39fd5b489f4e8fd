/* Judges lines one after the other. */
#include "config.h"

#include "text/filter.h"

#include <string.h>

#include "text/pattern.h"

#define SECOND_NS UINT64_C(1000000000)

bool text_filter_holds(const struct text_filter_rules *rules)
{
    return rules->tail > 0 || rules->budget_bytes > 0;
}

uint64_t text_filter_held(const struct text_filter_rules *rules)
{
    const uint64_t half_bytes = rules->budget_bytes / 2;

    return rules->budget_bytes == 0 || half_bytes > TEXT_FILTER_HELD_MAX
               ? TEXT_FILTER_HELD_MAX
               : half_bytes;
}

void text_filter_begin(const struct text_filter_rules *rules)
{
    text_patterns_begin(rules->grep);
    text_patterns_begin(rules->grep_v);
}

void text_filter_leave(struct text_filter *filter, enum text_left_reason reason,
                       uint64_t lines, uint64_t bytes)
{
    filter->left[reason].lines += lines;
    filter->left[reason].bytes += bytes;
}

static enum text_verdict leave(struct text_filter *filter,
                               enum text_left_reason reason)
{
    filter->reason = reason;
    return TEXT_LEFT_OUT;
}

/* Tells whether the line is left out by a pattern, and why. */
static bool is_unmatched(struct text_filter *filter,
                         const struct text_filter_rules *rules,
                         const uint8_t *line, uint32_t len_bytes,
                         enum text_left_reason *reason)
{
    bool is_limited = false, is_left = false;

    *reason = TEXT_LEFT_GREP;
    if (rules->grep != NULL &&
        !text_patterns_match(rules->grep, line, len_bytes, &is_limited))
        is_left = !is_limited;
    if (!is_left && rules->grep_v != NULL) {
        *reason = TEXT_LEFT_GREP_V;
        is_left =
            text_patterns_match(rules->grep_v, line, len_bytes, &is_limited);
    }
    filter->limited_lines += is_limited && !is_left;
    return is_left;
}

/* Takes the line's part of the rate, if there is one left: `rate` lines at
 * once, as if one second were saved up. */
static bool is_in_rate(struct text_filter *filter, uint32_t rate,
                       uint64_t now_ns)
{
    const uint64_t each_ns = SECOND_NS / rate;

    if (filter->rate_ns < now_ns)
        filter->rate_ns = now_ns;
    if (filter->rate_ns + each_ns - now_ns > SECOND_NS)
        return false;
    filter->rate_ns += each_ns;
    return true;
}

/* Tells whether the line fits into the first part of the budget. */
static bool is_in_budget(struct text_filter *filter,
                         const struct text_filter_rules *rules,
                         uint32_t len_bytes)
{
    const uint64_t first_bytes = rules->budget_bytes - text_filter_held(rules);

    if (filter->given_bytes + len_bytes > first_bytes)
        filter->is_spent = true;
    return !filter->is_spent;
}

static enum text_verdict judge(struct text_filter *filter,
                               const struct text_filter_rules *rules,
                               const uint8_t *mem, uint32_t len_bytes,
                               bool has_end, uint64_t now_ns)
{
    uint32_t line_bytes = len_bytes - has_end;
    enum text_left_reason reason;

    if (line_bytes > TEXT_FILTER_LINE_MAX)
        line_bytes = TEXT_FILTER_LINE_MAX;
    if (is_unmatched(filter, rules, mem, line_bytes, &reason))
        return leave(filter, reason);
    if (rules->rate > 0 && !is_in_rate(filter, rules->rate, now_ns))
        return leave(filter, TEXT_LEFT_RATE);
    filter->passed_lines++;
    if ((rules->head > 0 || rules->tail > 0) &&
        filter->passed_lines > rules->head)
        return rules->tail > 0 ? TEXT_HELD : leave(filter, TEXT_LEFT_LINES);
    if (rules->budget_bytes > 0 && !is_in_budget(filter, rules, len_bytes))
        return TEXT_HELD;
    return TEXT_GIVEN;
}

struct text_piece text_filter_next(struct text_filter *filter,
                                   const struct text_filter_rules *rules,
                                   const uint8_t *mem, uint32_t len_bytes,
                                   uint64_t now_ns)
{
    const uint8_t *newline = memchr(mem, '\n', len_bytes);
    struct text_piece piece = {.len_bytes = len_bytes,
                               .is_first = !filter->is_open};

    if (newline != NULL)
        piece.len_bytes = (uint32_t)(newline - mem) + 1;
    if (piece.is_first)
        filter->verdict =
            judge(filter, rules, mem, piece.len_bytes, newline != NULL, now_ns);
    filter->is_open = newline == NULL;
    piece.verdict = filter->verdict;
    if (piece.verdict == TEXT_LEFT_OUT)
        text_filter_leave(filter, filter->reason, piece.is_first,
                          piece.len_bytes);
    if (piece.verdict == TEXT_GIVEN && rules->budget_bytes > 0)
        filter->given_bytes += piece.len_bytes;
    return piece;
}
