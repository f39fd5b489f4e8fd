/* Matches lines by PCRE2. */
#include "config.h"

#include "text/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "overlay/base/err.h"

enum {
    PATTERN_STEPS = 100000,      /* from one place of the line */
    PATTERN_DEPTH = 10000,       /* of nested steps */
    PATTERN_HEAP_KIB = 4096,     /* where there is no machine code */
    PATTERN_STACK_BYTES = 32768, /* where there is, at first */
    PATTERN_STACK_MAX = 1 << 20,
    /* how many places of a line are tried at a time */
    PATTERN_SLICE_BYTES = 128,
    PATTERN_TRIES = 8, /* how many of these between two looks at the clock */
};

struct text_patterns {
    uint64_t (*cpu_ns)(void);
    uint64_t end_ns; /* when the time for these lines is over */
    uint32_t tries;
    bool is_late;
    pcre2_compile_context *how;
    pcre2_match_context *limits;
    pcre2_match_data *found;
    pcre2_jit_stack *stack;
    uint32_t count;
    pcre2_code *at[TEXT_PATTERNS_MAX];
};

int text_patterns_open(uint64_t (*cpu_ns)(void), struct text_patterns **out)
{
    struct text_patterns *set = calloc(1, sizeof(*set));

    *out = NULL;
    if (set == NULL)
        return OV_ENOMEM;
    set->cpu_ns = cpu_ns;
    set->end_ns = UINT64_MAX;
    set->how = pcre2_compile_context_create(NULL);
    set->limits = pcre2_match_context_create(NULL);
    set->found = pcre2_match_data_create(1, NULL);
    set->stack =
        pcre2_jit_stack_create(PATTERN_STACK_BYTES, PATTERN_STACK_MAX, NULL);
    if (set->how == NULL || set->limits == NULL || set->found == NULL) {
        text_patterns_close(set);
        return OV_ENOMEM;
    }
    pcre2_set_newline(set->how, PCRE2_NEWLINE_LF);
    pcre2_set_match_limit(set->limits, PATTERN_STEPS);
    pcre2_set_depth_limit(set->limits, PATTERN_DEPTH);
    pcre2_set_heap_limit(set->limits, PATTERN_HEAP_KIB);
    if (set->stack != NULL)
        pcre2_jit_stack_assign(set->limits, NULL, set->stack);
    *out = set;
    return 0;
}

void text_patterns_close(struct text_patterns *set)
{
    if (set == NULL)
        return;
    for (uint32_t i = 0; i < set->count; i++)
        pcre2_code_free(set->at[i]);
    pcre2_jit_stack_free(set->stack);
    pcre2_match_data_free(set->found);
    pcre2_match_context_free(set->limits);
    pcre2_compile_context_free(set->how);
    free(set);
}

int text_patterns_add(struct text_patterns *set, const char *text,
                      struct text_pattern_fault *fault)
{
    const uint32_t options = PCRE2_NEVER_UTF | PCRE2_USE_OFFSET_LIMIT;
    const size_t len_bytes = strlen(text);
    pcre2_code *code;
    PCRE2_SIZE at;
    int err;

    *fault = (struct text_pattern_fault){.at_bytes = 0};
    if (set->count == TEXT_PATTERNS_MAX)
        return OV_EFULL;
    if (len_bytes > TEXT_PATTERN_BYTES_MAX) {
        snprintf(fault->why, sizeof(fault->why), "more than %d bytes",
                 TEXT_PATTERN_BYTES_MAX);
        fault->at_bytes = TEXT_PATTERN_BYTES_MAX;
        return OV_EINVAL;
    }
    code = pcre2_compile((PCRE2_SPTR)text, len_bytes, options, &err, &at,
                         set->how);
    if (code == NULL) {
        if (err == PCRE2_ERROR_HEAP_FAILED)
            return OV_ENOMEM;
        pcre2_get_error_message(err, (PCRE2_UCHAR *)fault->why,
                                sizeof(fault->why));
        fault->at_bytes = at;
        return OV_EINVAL;
    }
    /* Without machine code, which some systems forbid, it is slower alone. */
    (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    set->at[set->count++] = code;
    return 0;
}

void text_patterns_begin(struct text_patterns *set)
{
    if (set == NULL || set->cpu_ns == NULL)
        return;
    set->end_ns = set->cpu_ns() + TEXT_PATTERN_LIMIT_MS * UINT64_C(1000000);
    set->is_late = false;
}

/* Tells whether the time is over; the clock is asked now and then only. */
static bool is_late(struct text_patterns *set)
{
    if (set->cpu_ns != NULL && !set->is_late &&
        ++set->tries % PATTERN_TRIES == 0)
        set->is_late = set->cpu_ns() >= set->end_ns;
    return set->is_late;
}

/* Tries one pattern, a slice of the line's places after the other. Returns as
 * pcre2_match() does. */
static int match_one(struct text_patterns *set, const pcre2_code *code,
                     const uint8_t *line, size_t len_bytes)
{
    int rc = PCRE2_ERROR_NOMATCH;

    for (size_t at = 0; at <= len_bytes && rc == PCRE2_ERROR_NOMATCH;
         at += PATTERN_SLICE_BYTES) {
        if (is_late(set))
            return PCRE2_ERROR_MATCHLIMIT;
        pcre2_set_offset_limit(set->limits, at + PATTERN_SLICE_BYTES - 1);
        rc = pcre2_match(code, line, len_bytes, at, 0, set->found, set->limits);
    }
    return rc;
}

bool text_patterns_match(struct text_patterns *set, const uint8_t *line,
                         size_t len_bytes, bool *is_limited)
{
    bool is_given_up = false;

    for (uint32_t i = 0; i < set->count; i++) {
        const int rc = match_one(set, set->at[i], line, len_bytes);

        if (rc >= 0)
            return true;
        is_given_up = is_given_up || rc != PCRE2_ERROR_NOMATCH;
    }
    *is_limited = *is_limited || is_given_up;
    return false;
}
