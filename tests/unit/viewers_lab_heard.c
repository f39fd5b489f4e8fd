/* Writes the messages to clients of viewers as text. */
#include "config.h"

#include "tests/unit/viewers_lab.h"

#include <inttypes.h>
#include <sys/socket.h>

void lab_add(char *text, const char *format, ...)
{
    size_t len = strlen(text);
    va_list args;

    if (len > 0)
        len += (size_t)snprintf(text + len, LAB_TEXT_MAX - len, "; ");
    assert_true(len < LAB_TEXT_MAX);
    va_start(args, format);
    vsnprintf(text + len, LAB_TEXT_MAX - len, format, args);
    va_end(args);
}

struct job_door lab_next(struct lab_client *client, uint8_t *mem)
{
    struct job_door msg = {.kind = 0};
    ssize_t got = recv(client->fd, mem, JOB_DOOR_BYTES_MAX, MSG_DONTWAIT);

    if (got < 0) {
        lab_turn(client->lab);
        got = recv(client->fd, mem, JOB_DOOR_BYTES_MAX, MSG_DONTWAIT);
    }
    if (got > 0)
        assert_int_equal(job_door_decode(ov_rd_init(mem, (size_t)got), &msg),
                         0);
    return msg;
}

static void add_output(char *heard, const struct job_door *msg)
{
    size_t len = ov_rd_left(&msg->rest);
    char numbers[64] = "", bytes[64] = "";
    size_t at = 0;

    if (msg->dropped_bytes > 0)
        at = (size_t)snprintf(numbers, sizeof(numbers), " dropped %" PRIu64,
                              msg->dropped_bytes);
    if (msg->before_bytes > 0)
        snprintf(numbers + at, sizeof(numbers) - at, " before %" PRIu64,
                 msg->before_bytes);
    if (len > 32)
        snprintf(bytes, sizeof(bytes), " bytes %zu", len);
    else if (len > 0)
        snprintf(bytes, sizeof(bytes), " '%.*s'", (int)len,
                 (const char *)msg->rest.at);
    lab_add(heard, "%u.%u%s%s%s", msg->first, msg->channel, numbers, bytes,
            msg->is_end ? " end" : "");
}

static void add_numbers(char *heard, const struct job_door *msg)
{
    struct ov_rd rest = msg->rest;
    char numbers[256] = "";
    size_t len = 0;

    if (ov_rd_left(&rest) > 64) {
        lab_add(heard, "%s %u: %zu",
                msg->kind == JOB_DOOR_PIDS ? "pids" : "exits", msg->first,
                ov_rd_left(&rest) / JOB_DOOR_NUMBER_BYTES);
        return;
    }
    while (ov_rd_left(&rest) > 0)
        len += (size_t)snprintf(numbers + len, sizeof(numbers) - len, " %d",
                                (int)ov_rd_u32(&rest));
    lab_add(heard, "%s %u:%s", msg->kind == JOB_DOOR_PIDS ? "pids" : "exits",
            msg->first, numbers);
}

static void add_stage(char *heard, const struct job_door *msg)
{
    static const char *const stages[] = {"?", "starting", "running", "over"};

    assert_in_range(msg->reason, 1, 3);
    assert_true(msg->time_s > 0);
    lab_add(heard, "%s %u", stages[msg->reason], msg->base);
    if (msg->count > 0)
        sprintf(heard + strlen(heard), ", %u failed, %u first with %d",
                msg->count, msg->first, msg->status);
    if (msg->is_lost)
        strcat(heard, ", lost");
}

/* Writes a message to a client that watches. False: it is not such a
 * message. */
static bool add_watched(char *heard, const struct job_door *msg)
{
    switch (msg->kind) {
    case JOB_DOOR_WATCHED:
        lab_add(heard, "watched");
        return true;
    case JOB_DOOR_BEGUN:
        lab_add(heard, "begun %s %u+%u channels %u%s", msg->text, msg->first,
                msg->count, msg->channels, msg->is_dvm ? " dvm" : "");
        return true;
    case JOB_DOOR_STAGE:
        add_stage(heard, msg);
        return true;
    case JOB_DOOR_BROKEN:
        lab_add(heard, "broken %u.%u", msg->first, msg->channel);
        return true;
    case JOB_DOOR_FORGOTTEN:
        lab_add(heard, "forgotten %u", msg->base);
        return true;
    case JOB_DOOR_PLACE:
        lab_add(heard, "place %u %u+%u %s %s", msg->parts, msg->first,
                msg->count, msg->host, msg->text);
        return true;
    case JOB_DOOR_PIDS:
    case JOB_DOOR_EXITS:
        add_numbers(heard, msg);
        return true;
    case JOB_DOOR_DESCRIBED:
        lab_add(heard, msg->is_over ? "no job" : "described");
        return true;
    case JOB_DOOR_NAMED:
        lab_add(heard, "%s %s/%u", msg->is_over ? "taken" : "named", msg->text,
                msg->first);
        return true;
    case JOB_DOOR_LOGGED:
        lab_add(heard, msg->is_over ? "not logged" : "logged");
        return true;
    case JOB_DOOR_EVENT:
        lab_add(heard, "event '%.*s'", (int)ov_rd_left(&msg->rest),
                (const char *)msg->rest.at);
        return true;
    default:
        return false;
    }
}

static void add_ranges(char *heard, struct ov_rd rest)
{
    while (ov_rd_left(&rest) > 0) {
        const uint32_t first = ov_rd_u32(&rest);

        lab_add(heard, "range %u-%u", first, ov_rd_u32(&rest));
    }
}

static void add_heard(char *heard, const struct job_door *msg)
{
    if (add_watched(heard, msg))
        return;
    switch (msg->kind) {
    case JOB_DOOR_JOB:
        lab_add(heard, "job %s %u+%u channels %u parts %u push %u", msg->text,
                msg->first, msg->count, msg->channels, msg->parts,
                msg->push_bytes);
        if (msg->cache_bytes > 0)
            lab_add(heard, "keeps %u", msg->cache_bytes);
        break;
    case JOB_DOOR_PART:
        lab_add(heard, "part %u %u+%u %s", msg->parts, msg->first, msg->count,
                msg->text);
        break;
    case JOB_DOOR_PULLED:
        lab_add(heard, msg->redirects ? "redirected" : "pulled");
        break;
    case JOB_DOOR_PUSHED:
        lab_add(heard, msg->is_over ? "over" : "pushed");
        break;
    case JOB_DOOR_OUTPUT:
        add_output(heard, msg);
        break;
    case JOB_DOOR_STARTED:
        lab_add(heard, "started");
        break;
    case JOB_DOOR_UNSTARTED:
        lab_add(heard, "unstarted %u %s", msg->reason, msg->text);
        break;
    case JOB_DOOR_SIGNALLED:
        lab_add(heard, msg->is_over ? "not signalled" : "signalled");
        break;
    case JOB_DOOR_ENDED:
        lab_add(heard, "ended %u of %u failed, status %d%s", msg->first,
                msg->count, msg->status, msg->is_lost ? ", lost" : "");
        if (ov_rd_left(&msg->rest) > 0)
            lab_add(heard, "%zu bytes of lines", ov_rd_left(&msg->rest));
        break;
    case JOB_DOOR_FIRST:
        lab_add(heard, "first %u: %s", msg->first, msg->text);
        break;
    case JOB_DOOR_STALLED:
        lab_add(heard, "stalled: %s", msg->text);
        break;
    case JOB_DOOR_NOTE:
        lab_add(heard, "note: %s", msg->text);
        break;
    case JOB_DOOR_RANGES:
        add_ranges(heard, msg->rest);
        break;
    default:
        fail_msg("a session does not say %u here", msg->kind);
    }
}

const char *lab_heard(struct lab_client *client)
{
    uint8_t mem[JOB_DOOR_BYTES_MAX];
    struct job_door msg;

    client->heard[0] = '\0';
    while ((msg = lab_next(client, mem)).kind != 0)
        add_heard(client->heard, &msg);
    return client->heard;
}
