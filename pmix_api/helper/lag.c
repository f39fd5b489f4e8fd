/* What the library has been given and has not written. */
#include "pmix_api/helper/lag.h"

#include <poll.h>
#include <pthread.h>
#include <stddef.h>

/* As many messages as LAG_BYTES are, and some that go before all others. */
enum { SLOTS = LAG_BYTES / LAG_MESSAGE_BYTES + 32 };

/* Neighbours in the library's queue: one, unless slots are short. */
struct slot {
    uint32_t bytes, count;
};

struct lag {
    const void *tool; /* NULL: free */
    int fd;           /* its socket; -1: not known */
    uint64_t turn;    /* of the last write */
    uint64_t bytes;   /* of all slots */
    struct slot slots[SLOTS];
    unsigned first, used;
    bool is_begun;     /* a message is written in part */
    bool is_delivery;  /* that one */
    uint64_t since_ms; /* somebody waits, and since when in vain; 0: nobody */
    uint64_t since_turn;
    bool since_room; /* of the socket */
};

static struct {
    pthread_mutex_t lock;
    struct lag lags[LAG_TOOLS_MAX];
    uint64_t turn;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct lag *find(const void *tool)
{
    for (unsigned i = 0; i < LAG_TOOLS_MAX; i++) {
        if (all.lags[i].tool == tool)
            return &all.lags[i];
    }
    return NULL;
}

static void clear(struct lag *lag, const void *tool)
{
    lag->tool = tool;
    lag->fd = -1;
    lag->turn = all.turn;
    lag->bytes = 0;
    lag->first = lag->used = 0;
    lag->is_begun = false;
    lag->since_ms = 0;
}

/* The one that was left alone for longest. */
static struct lag *oldest(void)
{
    struct lag *lag = &all.lags[0];

    for (unsigned i = 1; i < LAG_TOOLS_MAX; i++) {
        if (all.lags[i].turn < lag->turn)
            lag = &all.lags[i];
    }
    return lag;
}

/* Where there are too many one makes way, which is of a tool that has gone. */
static struct lag *get(const void *tool)
{
    struct lag *lag = find(tool);

    if (lag != NULL)
        return lag;
    lag = find(NULL);
    if (lag == NULL)
        lag = oldest();
    clear(lag, tool);
    return lag;
}

void px_lag_given(const void *tool, int fd, uint64_t bytes)
{
    uint32_t cost = (uint32_t)bytes + LAG_MESSAGE_BYTES;
    struct lag *lag;
    struct slot *slot;

    if (tool == NULL)
        return;
    pthread_mutex_lock(&all.lock);
    lag = get(tool);
    if (fd >= 0)
        lag->fd = fd;
    if (lag->used < SLOTS)
        lag->slots[(lag->first + lag->used++) % SLOTS] =
            (struct slot){.count = 0};
    slot = &lag->slots[(lag->first + lag->used - 1) % SLOTS];
    slot->bytes += cost;
    slot->count++;
    lag->bytes += cost;
    pthread_mutex_unlock(&all.lock);
}

static void take_out(struct lag *lag)
{
    struct slot *slot = &lag->slots[lag->first];
    uint32_t share;

    if (lag->used == 0)
        return;
    share = slot->bytes / slot->count;
    slot->bytes -= share;
    lag->bytes -= share;
    if (--slot->count > 0)
        return;
    lag->first = (lag->first + 1) % SLOTS;
    lag->used--;
}

/* A write that begins a message has its head. */
static void count_write(struct lag *lag, const struct px_write *write)
{
    lag->turn = ++all.turn;
    if (!lag->is_begun)
        lag->is_delivery = write->is_delivery;
    if (write->is_whole && lag->is_delivery)
        take_out(lag);
    lag->is_begun = !write->is_whole;
}

bool px_lag_wrote(const void *tool, const struct px_write *write)
{
    struct lag *lag;
    bool goes_on;

    pthread_mutex_lock(&all.lock);
    lag = get(tool);
    count_write(lag, write);
    goes_on = lag->since_ms != 0 && lag->bytes < LAG_BYTES / 2;
    if (goes_on)
        lag->since_ms = 0;
    if (lag->used == 0 && !lag->is_begun)
        clear(lag, NULL);
    pthread_mutex_unlock(&all.lock);
    return goes_on;
}

static bool has_room(int fd)
{
    struct pollfd sock = {.fd = fd, .events = POLLOUT};

    return fd < 0 || (poll(&sock, 1, 0) == 1 && sock.revents == POLLOUT);
}

/* Nothing is written though the socket has had room for long. */
static bool is_vain(struct lag *lag, int fd, uint64_t now_ms)
{
    bool room = has_room(fd);

    if (lag->since_ms == 0 || lag->since_turn != lag->turn || !room ||
        !lag->since_room) {
        lag->since_ms = now_ms;
        lag->since_turn = lag->turn;
        lag->since_room = room;
    }
    return now_ms - lag->since_ms >= LAG_FORGET_MS;
}

/* Who has waited goes on when half of it is written. */
static uint32_t room_of(struct lag *lag, int fd, uint64_t now_ms)
{
    if (lag->bytes < (lag->since_ms != 0 ? LAG_BYTES / 2 : LAG_BYTES)) {
        lag->since_ms = 0;
        return LAG_BYTES - (uint32_t)lag->bytes;
    }
    if (!is_vain(lag, fd, now_ms))
        return 0;
    clear(lag, NULL);
    return LAG_BYTES;
}

uint32_t px_lag_room(const void *tool, int fd, uint64_t now_ms)
{
    uint32_t room = LAG_BYTES;
    struct lag *lag;

    if (tool == NULL)
        return room;
    pthread_mutex_lock(&all.lock);
    lag = find(tool);
    if (lag != NULL)
        room = room_of(lag, fd, now_ms);
    pthread_mutex_unlock(&all.lock);
    return room;
}

uint64_t px_lag_due_ms(const void *tool)
{
    const struct lag *lag;
    uint64_t due = 0;

    pthread_mutex_lock(&all.lock);
    lag = tool != NULL ? find(tool) : NULL;
    if (lag != NULL && lag->since_ms != 0)
        due = lag->since_ms + LAG_FORGET_MS;
    pthread_mutex_unlock(&all.lock);
    return due;
}

uint64_t px_lag_bytes(void)
{
    uint64_t sum = 0;

    pthread_mutex_lock(&all.lock);
    for (unsigned i = 0; i < LAG_TOOLS_MAX; i++)
        sum += all.lags[i].bytes;
    pthread_mutex_unlock(&all.lock);
    return sum;
}

static unsigned count_of(const struct lag *lag)
{
    unsigned count = 0;

    for (unsigned i = 0; i < lag->used; i++)
        count += lag->slots[(lag->first + i) % SLOTS].count;
    return count;
}

static uint64_t payload_of(const struct lag *lag)
{
    return lag->bytes - (uint64_t)LAG_MESSAGE_BYTES * count_of(lag);
}

uint64_t px_lag_payload(const void *tool)
{
    const struct lag *lag;
    uint64_t bytes;

    pthread_mutex_lock(&all.lock);
    lag = tool != NULL ? find(tool) : NULL;
    bytes = lag != NULL ? payload_of(lag) : 0;
    pthread_mutex_unlock(&all.lock);
    return bytes;
}

unsigned px_lag_messages(const void *tool)
{
    const struct lag *lag;
    unsigned count;

    pthread_mutex_lock(&all.lock);
    lag = tool != NULL ? find(tool) : NULL;
    count = lag != NULL ? count_of(lag) : 0;
    pthread_mutex_unlock(&all.lock);
    return count;
}

uint64_t px_lag_forsake(const void *tool)
{
    struct lag *lag;
    uint64_t bytes = 0;

    pthread_mutex_lock(&all.lock);
    lag = tool != NULL ? find(tool) : NULL;
    if (lag != NULL) {
        bytes = payload_of(lag);
        clear(lag, NULL);
    }
    pthread_mutex_unlock(&all.lock);
    return bytes;
}

void px_lag_keep(bool (*is_here)(const void *tool, int fd))
{
    pthread_mutex_lock(&all.lock);
    for (unsigned i = 0; i < LAG_TOOLS_MAX; i++) {
        struct lag *lag = &all.lags[i];

        if (lag->tool != NULL && !is_here(lag->tool, lag->fd))
            clear(lag, NULL);
    }
    pthread_mutex_unlock(&all.lock);
}
