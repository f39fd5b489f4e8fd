/* Manages the tables of asks and of cells, and the lists in them. */
#include "overlay/claims.h"

#include "overlay/base/panic.h"

void ov_claims_init(struct ov_claims *claims, struct ov_cell *cells,
                    struct ov_ask *asks, uint32_t members)
{
    uint32_t cells_count = ov_claims_cells(members);
    uint32_t asks_count = ov_claims_asks(members);

    *claims = (struct ov_claims){
        .cells = cells,
        .asks = asks,
        .cells_free = cells_count > 0 ? 0 : OV_NONE,
        .asks_free = asks_count > 0 ? 0 : OV_NONE,
        .due_first = OV_NONE,
        .due_last = OV_NONE,
        .written = OV_NONE,
        .hold_ns = UINT64_MAX,
        .missing = ov_cells_none(),
        .asides = ov_cells_none(),
    };
    for (uint32_t i = 0; i < cells_count; i++)
        cells[i].next = i + 1 < cells_count ? i + 1 : OV_NONE;
    for (uint32_t i = 0; i < asks_count; i++)
        asks[i].next = i + 1 < asks_count ? i + 1 : OV_NONE;
}

/* --- cells */

struct ov_cell *ov_cell_new(struct ov_claims *claims)
{
    struct ov_cell *cell;

    if (claims->cells_free == OV_NONE)
        return NULL;
    cell = &claims->cells[claims->cells_free];
    claims->cells_free = cell->next;
    *cell = (struct ov_cell){.next = OV_NONE, .list = OV_NONE};
    return cell;
}

void ov_cells_free(struct ov_claims *claims, struct ov_cell_list *list)
{
    struct ov_cell *cell;

    while ((cell = ov_cells_pop(claims, list)) != NULL)
        ov_cell_free(claims, cell);
}

static void put_back(struct ov_claims *claims, struct ov_cell *cell)
{
    cell->next = claims->cells_free;
    claims->cells_free = (uint32_t)(cell - claims->cells);
}

void ov_cell_free(struct ov_claims *claims, struct ov_cell *cell)
{
    struct ov_cell_list own = {cell->list, OV_NONE};
    struct ov_cell *each;

    while ((each = ov_cells_pop(claims, &own)) != NULL)
        put_back(claims, each);
    put_back(claims, cell);
}

void ov_cells_push(struct ov_claims *claims, struct ov_cell_list *list,
                   struct ov_cell *cell)
{
    uint32_t index = (uint32_t)(cell - claims->cells);

    cell->next = OV_NONE;
    if (list->first == OV_NONE)
        list->first = index;
    else
        claims->cells[list->last].next = index;
    list->last = index;
}

struct ov_cell *ov_cells_pop(struct ov_claims *claims,
                             struct ov_cell_list *list)
{
    struct ov_cell *cell;

    if (list->first == OV_NONE)
        return NULL;
    cell = &claims->cells[list->first];
    list->first = cell->next;
    return cell;
}

/* --- asks */

struct ov_ask *ov_ask_new(struct ov_claims *claims)
{
    uint32_t index = claims->asks_free;
    struct ov_ask *ask;

    if (index == OV_NONE)
        return NULL;
    ask = &claims->asks[index];
    claims->asks_free = ask->next;
    *ask = (struct ov_ask){
        .claimed = ov_cells_none(),
        .stripped = ov_cells_none(),
        .same = OV_NONE,
        .next = OV_NONE,
        .state = OV_ASK_COMING,
    };
    if (index >= claims->asks_used)
        claims->asks_used = index + 1;
    return ask;
}

void ov_ask_free(struct ov_claims *claims, struct ov_ask *ask)
{
    OV_ASSERT(ask->state != OV_ASK_DUE);
    ov_cells_free(claims, &ask->claimed);
    ov_cells_free(claims, &ask->stripped);
    ask->state = OV_ASK_FREE;
    ask->next = claims->asks_free;
    claims->asks_free = ov_ask_index(claims, ask);
}

void ov_ask_due(struct ov_claims *claims, struct ov_ask *ask)
{
    uint32_t index = ov_ask_index(claims, ask);

    OV_ASSERT(ask->state == OV_ASK_COMING);
    ask->state = OV_ASK_DUE;
    ask->next = OV_NONE;
    if (claims->due_first == OV_NONE)
        claims->due_first = index;
    else
        claims->asks[claims->due_last].next = index;
    claims->due_last = index;
}

void ov_ask_not_due(struct ov_claims *claims, struct ov_ask *ask)
{
    uint32_t index = ov_ask_index(claims, ask);
    uint32_t before = OV_NONE;
    uint32_t at = claims->due_first;

    OV_ASSERT(ask->state == OV_ASK_DUE);
    for (; at != index; at = claims->asks[at].next) {
        OV_ASSERT(at != OV_NONE);
        before = at;
    }
    if (before == OV_NONE) {
        claims->due_first = ask->next;
        claims->written = OV_NONE;
    } else {
        claims->asks[before].next = ask->next;
    }
    if (claims->due_last == index)
        claims->due_last = before;
    ask->state = OV_ASK_ASKED;
}
