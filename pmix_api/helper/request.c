/* Requests of tools that the launcher has not answered yet. */
#include "pmix_api/helper/request.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "pmix_api/helper/bind.h"
#include "pmix_api/helper/job.h"
#include "pmix_api/helper/turn.h"

struct request {
    struct request *next;
    uint32_t token;
    uint32_t bytes;
    struct px_asker asker;
    pmix_nspace_t nspace; /* of what was started */
};

/* Tokens of a helper that has died must not be ours. */
static struct {
    pthread_mutex_t lock;
    struct request *list; /* owned */
    uint32_t count, made;
    uint64_t bytes;
} requests = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* In the library's thread. */
static void answer(pmix_status_t ignored, void *arg)
{
    struct request *request = arg;
    const struct px_asker *asker = &request->asker;

    (void)ignored;
    if (asker->on_op != NULL)
        asker->on_op(asker->status, asker->arg);
    else if (asker->on_spawn != NULL)
        px_bind_answer(asker, request->nspace);
    else
        asker->on_info(asker->status, NULL, 0, asker->arg, NULL, NULL);
    free(request);
}

void px_request_refuse(const struct px_asker *asker, pmix_status_t status)
{
    struct request *request = calloc(1, sizeof(*request));

    if (request == NULL)
        abort(); /* the tool would wait for ever; the launcher starts us anew */
    request->asker = *asker;
    request->asker.status = status;
    px_turn(answer, request);
}

uint32_t px_request_open(const struct px_asker *asker, uint32_t bytes)
{
    struct request *request = NULL;
    uint32_t token = 0;

    pthread_mutex_lock(&requests.lock);
    if (requests.count < REQUESTS_MAX &&
        requests.bytes + bytes <= REQUEST_BYTES_MAX)
        request = calloc(1, sizeof(*request));
    if (request != NULL) {
        token = ((uint32_t)getpid() << 16) + ++requests.made;
        *request = (struct request){.next = requests.list,
                                    .token = token,
                                    .bytes = bytes,
                                    .asker = *asker};
        requests.list = request;
        requests.count++;
        requests.bytes += bytes;
    }
    pthread_mutex_unlock(&requests.lock);
    if (request == NULL)
        px_request_refuse(asker, PMIX_ERR_OUT_OF_RESOURCE);
    return token;
}

static pmix_status_t status_of(uint8_t word, pmix_status_t if_done)
{
    switch ((enum px_answer)word) {
    case PX_ANSWER_OK:
        return if_done;
    case PX_ANSWER_NOT_NOW:
        return PMIX_ERR_NOT_AVAILABLE;
    case PX_ANSWER_NO_PROGRAM:
        return PMIX_ERR_JOB_EXE_NOT_FOUND;
    case PX_ANSWER_NO_EXEC:
        return PMIX_ERR_JOB_APP_NOT_EXECUTABLE;
    case PX_ANSWER_NO_DIR:
        return PMIX_ERR_JOB_WDIR_NOT_FOUND;
    case PX_ANSWER_FAILED:
        return PMIX_ERR_JOB_FAILED_TO_LAUNCH;
    case PX_ANSWER_NO_HOST:
        return PMIX_ERR_NOT_FOUND;
    case PX_ANSWER_NO_GROWTH:
        return PMIX_ERR_JOB_ALLOC_FAILED;
    case PX_ANSWER_BAD:
        return PMIX_ERR_BAD_PARAM;
    case PX_ANSWER_FULL:
    case PX_ANSWERS:
        break;
    }
    return PMIX_ERR_OUT_OF_RESOURCE;
}

/* A job that was started has been told of before. */
static void name(struct request *request)
{
    struct px_asker *asker = &request->asker;
    struct px_job job;

    if (asker->status == PMIX_ERR_OUT_OF_RESOURCE)
        asker->status = PMIX_ERR_JOB_INSUFFICIENT_RESOURCES;
    if (asker->status == PMIX_SUCCESS && !px_job_of_token(request->token, &job))
        asker->status = PMIX_ERR_JOB_FAILED_TO_LAUNCH;
    if (asker->status == PMIX_SUCCESS)
        PMIX_LOAD_NSPACE(request->nspace, job.nspace);
}

void px_request_done(const struct px_done *done)
{
    struct request **at = &requests.list;
    struct request *request;

    pthread_mutex_lock(&requests.lock);
    while (*at != NULL && (*at)->token != done->token)
        at = &(*at)->next;
    request = *at;
    if (request != NULL) {
        *at = request->next;
        requests.count--;
        requests.bytes -= request->bytes;
    }
    pthread_mutex_unlock(&requests.lock);
    if (request == NULL)
        return;
    request->asker.status = status_of(done->answer, request->asker.status);
    if (request->asker.on_spawn != NULL)
        name(request);
    px_turn(answer, request);
}
