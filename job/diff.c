/* A longest common subsequence by a table, as the middles of two outputs are
 * short. */
#include "config.h"

#include "job/diff.h"

#include <stdbool.h>
#include <stdlib.h>

#include "overlay/base/err.h"

/* The two middles, and the table: at i and j, how long the longest common
 * subsequence is of what comes from i and from j on. */
struct table {
    struct job_text *const *from, *const *to;
    uint32_t rows, columns;
    uint16_t *at; /* owned [rows + 1][columns + 1]; NULL: there is none */
};

struct list {
    struct job_diff_hunk *at; /* owned */
    uint32_t count, max;
};

static uint16_t *cell(const struct table *table, uint32_t i, uint32_t j)
{
    return &table->at[(uint64_t)i * (table->columns + 1) + j];
}

static void fill(const struct table *table)
{
    for (uint32_t i = table->rows; i-- > 0;) {
        for (uint32_t j = table->columns; j-- > 0;) {
            const uint16_t down = *cell(table, i + 1, j);
            const uint16_t right = *cell(table, i, j + 1);

            if (table->from[i] == table->to[j])
                *cell(table, i, j) = (uint16_t)(*cell(table, i + 1, j + 1) + 1);
            else
                *cell(table, i, j) = down > right ? down : right;
        }
    }
}

static bool list_add(struct list *list, const struct job_diff_hunk *hunk)
{
    if (list->count == list->max) {
        const uint32_t max = list->max * 2 + 8;
        struct job_diff_hunk *at = realloc(list->at, max * sizeof(*at));

        if (at == NULL)
            return false;
        list->at = at;
        list->max = max;
    }
    list->at[list->count++] = *hunk;
    return true;
}

/* Lists what is between the texts that are common; `skip` are equal at the
 * beginning. */
static bool walk(const struct table *table, uint32_t skip, struct list *list)
{
    uint32_t i = 0, j = 0;

    while (i < table->rows || j < table->columns) {
        struct job_diff_hunk hunk = {.from = skip + i, .to = skip + j};

        while (i < table->rows && j < table->columns &&
               table->from[i] == table->to[j]) {
            i++;
            j++;
            hunk = (struct job_diff_hunk){.from = skip + i, .to = skip + j};
        }
        while ((i < table->rows || j < table->columns) &&
               (i == table->rows || j == table->columns ||
                table->from[i] != table->to[j])) {
            if (j == table->columns ||
                (i < table->rows &&
                 *cell(table, i + 1, j) >= *cell(table, i, j + 1)))
                i++;
            else
                j++;
        }
        hunk.from_count = skip + i - hunk.from;
        hunk.to_count = skip + j - hunk.to;
        if (hunk.from_count + hunk.to_count > 0 && !list_add(list, &hunk))
            return false;
    }
    return true;
}

int job_diff(const struct job_diff_side *from, const struct job_diff_side *to,
             struct job_diff_hunk **out, uint32_t *count)
{
    uint32_t skip = 0, n = from->count, m = to->count;
    struct list list = {.at = NULL};
    struct table table;
    bool is_done;

    for (; skip < n && skip < m && from->at[skip] == to->at[skip]; skip++)
        ;
    for (; n > skip && m > skip && from->at[n - 1] == to->at[m - 1]; n--, m--)
        ;
    table = (struct table){.from = from->at + skip,
                           .to = to->at + skip,
                           .rows = n - skip,
                           .columns = m - skip};
    if ((uint64_t)table.rows * table.columns > JOB_DIFF_CELLS_MAX) {
        const struct job_diff_hunk all = {skip, table.rows, skip,
                                          table.columns};

        is_done = list_add(&list, &all);
    } else {
        table.at = calloc((uint64_t)(table.rows + 1) * (table.columns + 1),
                          sizeof(*table.at));
        if (table.at == NULL)
            return OV_ENOMEM;
        fill(&table);
        is_done = walk(&table, skip, &list);
        free(table.at);
    }
    if (!is_done) {
        free(list.at);
        return OV_ENOMEM;
    }
    *out = list.at;
    *count = list.count;
    return 0;
}
