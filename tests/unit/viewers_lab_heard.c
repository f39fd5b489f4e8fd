/* What clients of viewers hear, as text. */
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

static void add_heard(char *heard, const struct job_door *msg)
{
    switch (msg->kind) {
    case JOB_DOOR_JOB:
        lab_add(heard, "job %s %u+%u channels %u parts %u push %u", msg->text,
                msg->first, msg->count, msg->channels, msg->parts,
                msg->push_bytes);
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
        lab_add(heard, "signalled");
        break;
    case JOB_DOOR_ENDED:
        lab_add(heard, "ended %u of %u failed, status %d%s", msg->first,
                msg->count, msg->status, msg->is_lost ? ", lost" : "");
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
