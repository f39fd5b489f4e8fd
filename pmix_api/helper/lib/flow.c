/* Follows output on its way to the tool. */
#include "config.h"

#include "pmix_api/helper/lib/flow.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "endpoints/sys/peer.h"
#include "overlay/base/err.h"
#include "overlay/base/panic.h"
#include "pmix_api/helper/lib/ask.h"
#include "pmix_api/helper/lib/call.h"
#include "pmix_api/helper/lib/ledger.h"
#include "pmix_api/helper/lib/lib.h"
#include "pmix_api/helper/lib/sink.h"
#include "pmix_api/helper/lib/stream.h"

enum {
    MESSAGE_BYTES = 4096, /* the most bytes of a message besides its payload */
    INFOS = 4,
    NONCE_DIGITS = 16,
    NUMBER_DIGITS = 16,
    HEAD_BYTES = 1024, /* the first bytes of a message, in which its serial
                          number is */
};

/* A call of PMIx_server_IOF_deliver(), with the memory that it needs until its
 * answer. */
struct delivery {
    struct delivery *next; /* the delivery made after this one */
    uint64_t number;
    bool is_pulled;
    pmix_proc_t source;
    pmix_byte_object_t bytes; /* the bytes of output, behind this struct in
                               * memory or in `block` */
    void *block;              /* owned, or NULL */
    pmix_info_t info[INFOS];
    size_t infos;
    pmix_iof_channel_t channel;
};

static struct {
    char nonce[NONCE_DIGITS + 1]; /* random, so that our serial numbers cannot
                                     be mistaken for other text */
    int fd; /* the tool's socket, which libpmix owns; -1: none */
    /* The port of the other end. A descriptor is the tool's only if its port is
     * this one, too, because numbers of descriptors are used again. */
    uint16_t port;
    struct ep_peers peers;
    pthread_mutex_t lock; /* guards the members below */
    struct px_ledger ledger;
    struct delivery *first, *last; /* the deliveries that libpmix has not
                                    * handled yet, oldest and newest */
    unsigned pulls;
    unsigned changes; /* how often the number of pulls has changed */
    bool forwards;    /* output of some job goes to the tool without a pull */
    bool is_checking; /* on_check() is about to run in libpmix's thread */
    uint64_t checked; /* The number of the delivery up to which on_check() will
                       * find out what became of each. */
    bool is_over;
    /* The caller waits for room; there is room again. */
    bool is_waiting, has_room;
} flow = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

int px_flow_open(void)
{
    uint64_t chance;

    if (getrandom(&chance, sizeof(chance), 0) != (ssize_t)sizeof(chance))
        return OV_ESYS;
    snprintf(flow.nonce, sizeof(flow.nonce), "%016llx",
             (unsigned long long)chance);
    /* If this fails, no delivery ever counts as read, which is no error here.
     */
    (void)ep_peers_open(&flow.peers);
    return 0;
}

/* The port of the other end of a socket; 0: it is not connected. */
static uint16_t port_of(int fd)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof(peer);

    if (getpeername(fd, (struct sockaddr *)&peer, &len) != 0)
        return 0;
    return peer.ss_family == AF_INET6
               ? ((const struct sockaddr_in6 *)&peer)->sin6_port
               : ((const struct sockaddr_in *)&peer)->sin_port;
}

/* How many bytes the kernel has accepted from us and the tool has not received
 * yet. */
static uint64_t unsent(void)
{
    int bytes;

    return ioctl(flow.fd, SIOCOUTQ, &bytes) == 0 ? (uint64_t)bytes : 0;
}

void px_flow_start(int fd)
{
    flow.fd = fd;
    flow.port = port_of(fd);
}

/* --- what libpmix has not written yet */

/* The most messages that libpmix can make of a delivery. */
static unsigned copies(void)
{
    unsigned count = flow.pulls + (flow.forwards ? 1 : 0);

    return count > 0 ? count : 1;
}

static uint64_t room(void)
{
    uint64_t most = PX_LIB_UNWRITTEN_BYTES;

    if (flow.is_waiting)
        most /= 2; /* A caller that waits for room goes on when half of the
                    * bytes are written. */
    if (px_ledger_is_full(&flow.ledger) || flow.ledger.open_bytes >= most)
        return 0;
    return (PX_LIB_UNWRITTEN_BYTES - flow.ledger.open_bytes) / copies();
}

static void look_for_room(void)
{
    if (!flow.is_waiting || flow.has_room || room() == 0)
        return;
    flow.has_room = true;
    px_ask_wake();
}

/* True when there was only one pull ever, and all deliveries are for it. Then
 * libpmix makes one message of each delivery, which is complete once the
 * message is written. */
static bool is_single(void)
{
    return flow.pulls == 1 && flow.changes == 1 && !flow.forwards;
}

static void on_check(pmix_status_t status, void *arg);

/* Has on_check() run in libpmix's thread, after everything that waits for the
 * thread already. By then the messages of handled deliveries are in libpmix's
 * queue. */
static void check_later(void)
{
    const struct px_ledger *ledger = &flow.ledger;

    if (flow.is_checking || flow.is_over || ledger->handled != ledger->given ||
        ledger->written == ledger->handled || ledger->left_bytes > 0)
        return;
    flow.is_checking = true;
    flow.checked = ledger->handled;
    px_call_turn(on_check, NULL);
}

static void on_check(pmix_status_t status, void *arg)
{
    (void)status;
    (void)arg;
    pthread_mutex_lock(&flow.lock);
    flow.is_checking = false;
    if (!flow.is_over && !px_stream_is_eager()) {
        px_ledger_rest(&flow.ledger, flow.checked);
        check_later(); /* runs again if more deliveries were handled
                          meanwhile */
    }
    look_for_room();
    pthread_mutex_unlock(&flow.lock);
}

/* --- what libpmix writes */

/* Finds the serial number in the first bytes of a message; 0: the message
 * belongs to no delivery. */
static uint64_t find_number(const char *mem, size_t len_bytes)
{
    char digits[NUMBER_DIGITS + 1] = "";
    const char *at = memmem(mem, len_bytes, flow.nonce, NONCE_DIGITS);

    if (at == NULL ||
        (size_t)(mem + len_bytes - at) < NONCE_DIGITS + NUMBER_DIGITS)
        return 0;
    memcpy(digits, at + NONCE_DIGITS, NUMBER_DIGITS);
    return strtoull(digits, NULL, 16);
}

static uint64_t number_of(const struct iovec *parts, int count)
{
    uint64_t number = 0;

    for (int i = 0; i < count && number == 0; i++)
        number = find_number(parts[i].iov_base, parts[i].iov_len < HEAD_BYTES
                                                    ? parts[i].iov_len
                                                    : HEAD_BYTES);
    return number;
}

/* Called when libpmix begins a message, by a write of two parts, head and body.
 * Returns false for a message that must be left out; a delivery all of whose
 * messages are left out has reached no pull. */
static bool begin_message(const struct iovec *parts, int count, uint64_t sum)
{
    uint64_t number = number_of(parts, count);
    bool is_hidden = count == 2 && number != 0 &&
                     px_sink_has(number, parts[1].iov_base, parts[1].iov_len);

    px_ledger_begin(&flow.ledger, is_hidden ? 0 : number, is_hidden ? 0 : sum);
    if (is_hidden)
        check_later();
    return !is_hidden;
}

bool px_flow_try(const struct iovec *parts, int count)
{
    bool is_wanted = true;
    uint64_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += parts[i].iov_len;
    pthread_mutex_lock(&flow.lock);
    /* This write begins a message, and does not continue one. */
    if (flow.ledger.left_bytes != sum)
        is_wanted = begin_message(parts, count, sum);
    look_for_room();
    pthread_mutex_unlock(&flow.lock);
    return is_wanted;
}

void px_flow_wrote(size_t bytes)
{
    pthread_mutex_lock(&flow.lock);
    if (px_ledger_write(&flow.ledger, bytes) && is_single()) {
        px_ledger_rest(&flow.ledger, flow.ledger.begun);
        look_for_room();
    } else {
        check_later();
    }
    pthread_mutex_unlock(&flow.lock);
}

void px_flow_end(bool is_clean)
{
    pthread_mutex_lock(&flow.lock);
    flow.is_over = true;
    if (is_clean && unsent() == 0)
        px_ledger_read(&flow.ledger, flow.ledger.bytes);
    pthread_mutex_unlock(&flow.lock);
}

void px_flow_pull(int change)
{
    pthread_mutex_lock(&flow.lock);
    flow.changes++;
    if (change > 0)
        flow.pulls++;
    else if (flow.pulls > 0)
        flow.pulls--;
    pthread_mutex_unlock(&flow.lock);
}

void px_flow_forward(void)
{
    pthread_mutex_lock(&flow.lock);
    flow.forwards = true;
    pthread_mutex_unlock(&flow.lock);
}

static void on_cut(pmix_status_t status, void *arg)
{
    (void)status;
    (void)arg;
}

static bool is_named(const struct delivery *d, const pmix_proc_t procs[],
                     size_t count, pmix_iof_channel_t channels)
{
    for (size_t i = 0; (d->channel & channels) != 0 && i < count; i++) {
        if (PMIX_CHECK_PROCID(&procs[i], &d->source))
            return true;
    }
    return false;
}

void px_flow_begin(const pmix_proc_t procs[], size_t count,
                   pmix_iof_channel_t channels)
{
    pthread_mutex_lock(&flow.lock);
    for (struct delivery *d = flow.first; d != NULL; d = d->next) {
        if (flow.forwards && !d->is_pulled &&
            is_named(d, procs, count, channels))
            px_sink_add(d->number, PX_SINK_PULLS, &d->source, d->channel,
                        d->infos);
    }
    pthread_mutex_unlock(&flow.lock);
}

/* libpmix keeps the last delivery that no pull has named, and sends it to the
 * next pull that names it. An empty delivery replaces it. */
void px_flow_cut(void)
{
    static const pmix_proc_t nobody = {.nspace = PX_LIB_NOBODY, .rank = 0};
    static const pmix_byte_object_t nothing = {.bytes = NULL, .size = 0};

    PMIx_server_IOF_deliver(&nobody, PMIX_FWD_STDOUT_CHANNEL, &nothing, NULL, 0,
                            on_cut, NULL);
}

/* --- the caller */

static void free_delivery(struct delivery *d)
{
    for (size_t i = 0; i < d->infos; i++)
        PMIX_INFO_DESTRUCT(&d->info[i]);
    free(d->block);
    free(d);
}

/* Called when libpmix has handled a delivery, in the order in which they were
 * made. */
static void on_delivered(pmix_status_t status, void *arg)
{
    (void)status;
    pthread_mutex_lock(&flow.lock);
    flow.first = flow.first->next;
    px_ledger_handle(&flow.ledger);
    if (!is_single())
        check_later();
    pthread_mutex_unlock(&flow.lock);
    free_delivery(arg);
}

static void add_number(struct delivery *d, uint64_t number)
{
    char text[NONCE_DIGITS + NUMBER_DIGITS + 1];

    snprintf(text, sizeof(text), "%s%016llx", flow.nonce,
             (unsigned long long)number);
    PMIX_INFO_LOAD(&d->info[d->infos++], PX_LIB_SERIAL, text, PMIX_STRING);
}

static void add_count(struct delivery *d, const char *key, uint64_t bytes)
{
    if (bytes > 0)
        PMIX_INFO_LOAD(&d->info[d->infos++], key, &bytes, PMIX_UINT64);
}

static struct delivery *make(const struct px_lib_output *o, uint64_t number)
{
    const size_t copied = o->block == NULL ? o->len_bytes : 0;
    struct delivery *d = malloc(sizeof(*d) + copied);

    if (d == NULL)
        return NULL;
    memset(d, 0, sizeof(*d));
    PMIX_LOAD_PROCID(&d->source, o->nspace, o->rank);
    d->number = number;
    d->is_pulled = o->is_pulled;
    d->channel = o->channel;
    d->block = o->block;
    d->bytes.bytes =
        o->block != NULL ? (char *)(uintptr_t)o->mem : (char *)(d + 1);
    d->bytes.size = o->len_bytes;
    if (copied > 0)
        memcpy(d->bytes.bytes, o->mem, copied);
    add_number(d, number);
    if (o->is_end)
        PMIX_INFO_LOAD(&d->info[d->infos++], PMIX_IOF_COMPLETE, NULL,
                       PMIX_BOOL);
    add_count(d, PX_LIB_DROPPED, o->dropped_bytes);
    add_count(d, PX_LIB_BEFORE, o->before_bytes);
    return d;
}

static void append_delivery(struct delivery *d)
{
    if (flow.first == NULL)
        flow.first = d;
    else
        flow.last->next = d;
    flow.last = d;
}

/* Makes a delivery. It is counted before the call, because libpmix may handle
 * it before the call returns. Once libpmix is started the call does not fail.
 */
static void give_delivery(struct delivery *d)
{
    const uint64_t cost = d->bytes.size + MESSAGE_BYTES;
    pmix_status_t rc;

    pthread_mutex_lock(&flow.lock);
    append_delivery(d);
    px_ledger_give(&flow.ledger, cost * copies());
    if (d->is_pulled && flow.forwards)
        px_sink_add(d->number, PX_SINK_SHOWN, &d->source, d->channel, d->infos);
    pthread_mutex_unlock(&flow.lock);
    rc = PMIx_server_IOF_deliver(&d->source, d->channel, &d->bytes, d->info,
                                 d->infos, on_delivered, d);
    OV_ASSERT(rc == PMIX_SUCCESS);
}

int px_lib_deliver(const struct px_lib_output *output)
{
    struct delivery *d;

    if (output->len_bytes > PX_LIB_BYTES_MAX ||
        strlen(output->nspace) > PMIX_MAX_NSLEN)
        return OV_EINVAL;
    if (flow.fd < 0)
        return OV_ECLOSED;
    if (px_lib_room() == 0)
        return OV_EFULL;
    /* No lock is needed: only the caller's thread changes `given`. */
    d = make(output, flow.ledger.given + 1);
    if (d == NULL)
        return OV_ENOMEM;
    give_delivery(d);
    return 0;
}

/* No race is possible: libpmix handles nothing while it waits for the pull's
 * answer. */
void px_lib_withhold(const char *nspace, uint32_t rank, uint16_t channels)
{
    pmix_proc_t source;

    PMIX_LOAD_PROCID(&source, nspace, rank);
    pthread_mutex_lock(&flow.lock);
    for (struct delivery *d = flow.first; d != NULL; d = d->next) {
        if (is_named(d, &source, 1, channels))
            px_sink_add(d->number, PX_SINK_PULLS, &d->source, d->channel,
                        d->infos);
    }
    pthread_mutex_unlock(&flow.lock);
}

size_t px_lib_room(void)
{
    uint64_t bytes;

    pthread_mutex_lock(&flow.lock);
    bytes = room();
    flow.is_waiting = bytes == 0;
    if (bytes == 0)
        flow.has_room = false;
    pthread_mutex_unlock(&flow.lock);
    return bytes;
}

bool px_flow_has_room(void)
{
    bool has;

    pthread_mutex_lock(&flow.lock);
    has = flow.has_room;
    flow.has_room = false;
    if (has)
        flow.is_waiting = false;
    pthread_mutex_unlock(&flow.lock);
    return has;
}

bool px_lib_has_tool(void)
{
    return flow.fd >= 0 && flow.port != 0 && port_of(flow.fd) == flow.port;
}

/* Returns up to which byte the tool has read the stream. It asks for the bytes
 * written, then for those on their way, in the order in which bytes move. Bytes
 * that move meanwhile count as unread twice, or do not count as written, so the
 * result is never too large. */
static uint64_t read_position(void)
{
    struct ep_peer peer;
    uint64_t position, left;

    pthread_mutex_lock(&flow.lock);
    position = flow.ledger.bytes;
    pthread_mutex_unlock(&flow.lock);
    left = unsent();
    if (!px_lib_has_tool() || ep_peers_ask(&flow.peers, flow.fd, &peer) != 0)
        return 0;
    left += peer.unread_bytes;
    return position > left ? position - left : 0;
}

uint64_t px_lib_taken(void)
{
    uint64_t position, taken;

    if (flow.fd < 0)
        return 0;
    position = read_position();
    pthread_mutex_lock(&flow.lock);
    px_ledger_read(&flow.ledger, position);
    taken = flow.ledger.taken;
    pthread_mutex_unlock(&flow.lock);
    return taken;
}

uint64_t px_lib_missed(uint64_t behind)
{
    uint64_t number;

    pthread_mutex_lock(&flow.lock);
    number = px_ledger_missed(&flow.ledger, behind);
    look_for_room(); /* The ledger may have been full of deliveries that no pull
                      * named. */
    pthread_mutex_unlock(&flow.lock);
    return number;
}
