/* Whose request is it that the library makes with the answer to a spawn?
 *
 * A delivery for nobody makes the library name all its requests, in one turn.
 * That is done before the answer, which is given in the same turn, and after
 * it: what is new then is of the answer, or of a pull that came in between and
 * which the library names soon.
 */
#include "pmix_api/helper/bind.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_api/helper/deliver.h"
#include "pmix_api/helper/forward.h"
#include "pmix_api/helper/pulls.h"

enum { TRIES_MAX = 1000 };

struct answer {
    struct answer *next;
    struct px_asker asker;
    pmix_nspace_t nspace;
};

static const pmix_proc_t before = {.nspace = "xylem-nobody", .rank = 0};
static const pmix_proc_t after = {.nspace = "xylem-nobody", .rank = 0};

static struct {
    struct answer *list, **last; /* owned, in order */
    atomic_bool is_busy;
    const void **requests; /* owned [room]: those from before, then new ones */
    size_t known, count, room;
    unsigned tries;
} bound = {.last = &bound.list};

static void next(void);
static void on_after(pmix_status_t status, void *arg);

bool px_bind_is_busy(void)
{
    return bound.is_busy;
}

bool px_bind_match(const pmix_proc_t *source, const void *request)
{
    if (source != &before && source != &after)
        return false;
    if (bound.count == bound.room) {
        size_t room = 2 * bound.room + 16;
        void *more = realloc(bound.requests, room * sizeof(*bound.requests));

        if (more == NULL)
            abort(); /* the launcher starts us anew */
        bound.requests = more;
        bound.room = room;
    }
    bound.requests[bound.count++] = request;
    return true;
}

static void ask(const pmix_proc_t *mark, pmix_op_cbfunc_t then)
{
    static const pmix_byte_object_t nothing = {"", 0};
    pmix_status_t rc = PMIx_server_IOF_deliver(mark, PMIX_FWD_STDOUT_CHANNEL,
                                               &nothing, NULL, 0, then, NULL);

    if (rc != PMIX_SUCCESS)
        then(rc, NULL);
}

static void give(const struct answer *answer)
{
    char nspace[sizeof(answer->nspace)];

    memcpy(nspace, answer->nspace, sizeof(nspace));
    answer->asker.on_spawn(answer->asker.status, nspace, answer->asker.arg);
}

static void drop_first(void)
{
    struct answer *answer = bound.list;

    bound.list = answer->next;
    if (bound.list == NULL)
        bound.last = &bound.list;
    free(answer);
}

static bool was_there(const void *request)
{
    for (size_t i = 0; i < bound.known; i++) {
        if (bound.requests[i] == request)
            return true;
    }
    return false;
}

/* Leaves those that were not there before. */
static void keep_new(void)
{
    size_t kept = bound.known;

    for (size_t i = bound.known; i < bound.count; i++) {
        if (!was_there(bound.requests[i]))
            bound.requests[kept++] = bound.requests[i];
    }
    bound.count = kept;
}

static void look(void)
{
    bound.count = bound.known;
    ask(&after, on_after);
}

static void on_after(pmix_status_t status, void *arg)
{
    const void *stranger = NULL;

    (void)status;
    (void)arg;
    keep_new();
    if (!px_forward_stranger(bound.requests + bound.known,
                             bound.count - bound.known, &stranger) &&
        ++bound.tries < TRIES_MAX) {
        look();
        return;
    }
    if (stranger != NULL)
        px_forward_bind(bound.list->asker.pull, stranger);
    else
        px_forward_drop(bound.list->asker.pull);
    drop_first();
    bound.is_busy = false;
    px_deliver_wake();
    next();
}

static void on_before(pmix_status_t status, void *arg)
{
    (void)status;
    (void)arg;
    bound.known = bound.count;
    bound.tries = 0;
    if (bound.known > 0) /* there is one of our own, see px_hooks_try() */
        px_forward_sweep(bound.requests, bound.known);
    give(bound.list);
    look();
}

/* No request is made for it, or there are no others. */
static bool is_plain(const struct answer *answer)
{
    return answer->asker.pull == 0 || !px_pulls_are_many() ||
           answer->asker.status != PMIX_SUCCESS;
}

static void next(void)
{
    while (bound.list != NULL && is_plain(bound.list)) {
        give(bound.list);
        if (bound.list->asker.status == PMIX_SUCCESS)
            px_forward_bind(bound.list->asker.pull, NULL);
        else
            px_forward_drop(bound.list->asker.pull);
        drop_first();
    }
    if (bound.list == NULL)
        return;
    bound.is_busy = true;
    bound.count = 0;
    ask(&before, on_before);
}

void px_bind_answer(const struct px_asker *asker, const char *nspace)
{
    struct answer *answer = calloc(1, sizeof(*answer));

    if (answer == NULL)
        abort(); /* the tool would wait for ever; the launcher starts us anew */
    answer->asker = *asker;
    PMIX_LOAD_NSPACE(answer->nspace, nspace);
    *bound.last = answer;
    bound.last = &answer->next;
    if (!bound.is_busy)
        next();
}
