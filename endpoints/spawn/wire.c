/* Messages with descriptors over a pair of packet sockets. */
#include "config.h"

#include "endpoints/spawn/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "overlay/base/err.h"
#include "overlay/base/panic.h"
#include "overlay/base/wire.h"

enum { FLAG_LAST = 1, FLAG_FIRST = 2 };

union control {
    struct cmsghdr align;
    char space[CMSG_SPACE(sizeof(int) * EP_WIRE_FDS_MAX)];
};

struct header {
    uint8_t type;
    uint8_t flags;
    uint8_t fd_count;
    uint32_t total_bytes;
};

static void fds_close(const int *fds, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        close(fds[i]);
}

int ep_wire_init(struct ep_wire *wire, int fd)
{
    *wire = (struct ep_wire){.fd = -1};
    wire->packet = malloc(EP_WIRE_HEADER_BYTES + EP_WIRE_PIECE_BYTES);
    if (wire->packet == NULL)
        return OV_ENOMEM;
    wire->fd = fd;
    return 0;
}

void ep_wire_fini(struct ep_wire *wire)
{
    if (wire->fd >= 0)
        close(wire->fd);
    wire->fd = -1;
    ep_wire_clear(wire);
    free(wire->packet);
    free(wire->body);
    wire->packet = NULL;
    wire->body = NULL;
}

struct ep_wire_out *ep_wire_out_new(uint8_t type, uint32_t len_bytes)
{
    struct ep_wire_out *out;

    OV_ASSERT(len_bytes <= EP_WIRE_BODY_MAX);
    out = malloc(sizeof(*out) + len_bytes);
    if (out == NULL)
        return NULL;
    *out = (struct ep_wire_out){.type = type, .len_bytes = len_bytes};
    return out;
}

void ep_wire_out_free(struct ep_wire_out *out)
{
    if (out == NULL)
        return;
    fds_close(out->fds, out->fd_count);
    free(out);
}

void ep_wire_clear(struct ep_wire *wire)
{
    struct ep_wire_out *out = wire->first;

    while (out != NULL) {
        struct ep_wire_out *next = out->next;

        ep_wire_out_free(out);
        out = next;
    }
    wire->first = NULL;
    wire->last = NULL;
}

bool ep_wire_is_empty(const struct ep_wire *wire)
{
    return wire->first == NULL;
}

static void control_fill(struct msghdr *msg, union control *control,
                         const int *fds, uint8_t fd_count)
{
    struct cmsghdr *cmsg;

    memset(control, 0, sizeof(*control));
    msg->msg_control = control;
    msg->msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
    cmsg = CMSG_FIRSTHDR(msg);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
    memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * fd_count);
}

static int err_from_send(int err)
{
    switch (err) {
    case EAGAIN:
        return OV_EAGAIN;
    case ETOOMANYREFS:
    case ENOBUFS:
    case ENOMEM:
        return OV_EFULL;
    case EBADF:
        return OV_EINVAL;
    default:
        return OV_ECLOSED;
    }
}

/* Sends the next packet of a message. Returns 0 or an error of
 * ep_wire_flush. */
static int packet_send(const struct ep_wire *wire, struct ep_wire_out *out,
                       const int *fds, uint8_t fd_count)
{
    uint32_t left = out->len_bytes - out->sent_bytes;
    uint32_t piece = left < EP_WIRE_PIECE_BYTES ? left : EP_WIRE_PIECE_BYTES;
    bool is_last = piece == left;
    uint8_t header[EP_WIRE_HEADER_BYTES];
    struct ov_wr wr = ov_wr_init(header, sizeof(header));
    struct iovec iov[2] = {{header, sizeof(header)},
                           {out->body + out->sent_bytes, piece}};
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
    union control control;
    ssize_t sent;

    ov_wr_u8(&wr, out->type);
    ov_wr_u8(&wr, (uint8_t)((is_last ? FLAG_LAST : 0) |
                            (out->sent_bytes == 0 ? FLAG_FIRST : 0)));
    ov_wr_u8(&wr, is_last ? fd_count : 0);
    ov_wr_u8(&wr, 0);
    ov_wr_u32(&wr, out->len_bytes);
    if (is_last && fd_count > 0)
        control_fill(&msg, &control, fds, fd_count);
    do {
        sent = sendmsg(wire->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0)
        return err_from_send(errno);
    out->sent_bytes += piece;
    return 0;
}

/* Sends all packets of a message; its fd_count descriptors are sent with the
 * last one. A message without a body is one packet, too. */
static int message_send(const struct ep_wire *wire, struct ep_wire_out *out,
                        const int *fds, uint8_t fd_count)
{
    int rc;

    do {
        rc = packet_send(wire, out, fds, fd_count);
    } while (rc == 0 && out->sent_bytes < out->len_bytes);
    return rc;
}

int ep_wire_flush(struct ep_wire *wire)
{
    while (wire->first != NULL) {
        struct ep_wire_out *out = wire->first;
        int rc = message_send(wire, out, out->fds, out->fd_count);

        if (rc != 0)
            return rc;
        wire->first = out->next;
        if (wire->first == NULL)
            wire->last = NULL;
        ep_wire_out_free(out);
    }
    return 0;
}

static int queue_push(struct ep_wire *wire, struct ep_wire_out *out,
                      const int *fds, uint8_t fd_count)
{
    for (unsigned i = 0; i < fd_count; i++) {
        int fd = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);

        if (fd < 0) {
            int err = errno;

            ep_wire_out_free(out);
            errno = err;
            return OV_ESYS;
        }
        out->fds[out->fd_count++] = fd;
    }
    if (wire->last != NULL)
        wire->last->next = out;
    else
        wire->first = out;
    wire->last = out;
    return 0;
}

int ep_wire_post(struct ep_wire *wire, struct ep_wire_out *out, const int *fds,
                 uint8_t fd_count)
{
    int rc = OV_EAGAIN;

    OV_ASSERT(fd_count <= EP_WIRE_FDS_MAX);
    if (wire->fd < 0)
        rc = OV_ECLOSED;
    else if (wire->first == NULL)
        rc = message_send(wire, out, fds, fd_count);
    if (rc == OV_EAGAIN || rc == OV_EFULL)
        return queue_push(wire, out, fds, fd_count);
    ep_wire_out_free(out);
    return rc;
}

static void control_take(struct msghdr *msg, struct ep_wire_in *in)
{
    for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg); cmsg != NULL;
         cmsg = CMSG_NXTHDR(msg, cmsg)) {
        size_t count;

        if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
            continue;
        count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        OV_ASSERT(count <= EP_WIRE_FDS_MAX);
        memcpy(in->fds, CMSG_DATA(cmsg), count * sizeof(int));
        in->fd_count = (uint8_t)count;
    }
}

/* Reads one packet with its descriptors; *len_bytes is its length. */
static int packet_read(struct ep_wire *wire, struct ep_wire_in *in,
                       size_t *len_bytes)
{
    struct iovec iov = {wire->packet,
                        EP_WIRE_HEADER_BYTES + EP_WIRE_PIECE_BYTES};
    union control control;
    struct msghdr msg = {
        .msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof(control),
    };
    ssize_t got;

    /* ECONNRESET means that the other side has closed with messages of ours
     * unread. Messages that it sent before that can still be read, and then the
     * end. */
    do {
        got = recvmsg(wire->fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
    if (got < 0)
        return errno == EAGAIN ? OV_EAGAIN : OV_ECLOSED;
    if (got == 0)
        return OV_ECLOSED;
    control_take(&msg, in);
    *len_bytes = (size_t)got;
    return 0;
}

/* Adds one packet to the message that is being put together. */
static int packet_add(struct ep_wire *wire, const struct header *header,
                      struct ov_rd *rd, struct ep_wire_in *in)
{
    size_t piece = ov_rd_left(rd);
    bool is_last = header->flags & FLAG_LAST;

    if (header->flags & FLAG_FIRST) {
        free(wire->body);
        wire->body = NULL;
        wire->body_bytes = 0;
        if (is_last && piece == header->total_bytes) {
            in->body = ov_rd_bytes(rd, piece);
            return 0;
        }
        wire->body = malloc(header->total_bytes);
        if (wire->body == NULL)
            return OV_ENOMEM;
        wire->body_type = header->type;
        wire->body_total = header->total_bytes;
    }
    if (wire->body == NULL || wire->body_type != header->type ||
        wire->body_total != header->total_bytes)
        return OV_EPROTO;
    if (piece > header->total_bytes - wire->body_bytes)
        return OV_EPROTO;
    memcpy(wire->body + wire->body_bytes, ov_rd_bytes(rd, piece), piece);
    wire->body_bytes += (uint32_t)piece;
    if (!is_last)
        return OV_EAGAIN;
    if (wire->body_bytes != header->total_bytes)
        return OV_EPROTO;
    wire->body_done = true;
    in->body = wire->body;
    return 0;
}

int ep_wire_recv(struct ep_wire *wire, struct ep_wire_in *in)
{
    int rc;

    if (wire->body_done) {
        free(wire->body);
        wire->body = NULL;
        wire->body_done = false;
    }
    do {
        struct header header;
        struct ov_rd rd;
        size_t len_bytes;

        *in = (struct ep_wire_in){0};
        rc = packet_read(wire, in, &len_bytes);
        if (rc != 0)
            return rc;
        rd = ov_rd_init(wire->packet, len_bytes);
        header.type = ov_rd_u8(&rd);
        header.flags = ov_rd_u8(&rd);
        header.fd_count = ov_rd_u8(&rd);
        (void)ov_rd_u8(&rd);
        header.total_bytes = ov_rd_u32(&rd);
        in->type = header.type;
        in->len_bytes = header.total_bytes;
        in->fds_lost = in->fd_count < header.fd_count;
        rc = rd.bad || header.total_bytes > EP_WIRE_BODY_MAX
                 ? OV_EPROTO
                 : packet_add(wire, &header, &rd, in);
        if (rc != 0 || in->fds_lost) {
            fds_close(in->fds, in->fd_count);
            in->fd_count = 0;
        }
    } while (rc == OV_EAGAIN);
    return rc;
}
