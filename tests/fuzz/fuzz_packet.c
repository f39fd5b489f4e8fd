/* Packets between the spawner and its owner: an accepted message has all the
 * bytes that its head announces, its descriptors are closed or handed over, and
 * a message that was posted arrives unchanged. The first byte says what the
 * rest is: packets as they are, each with its length in two bytes before it, or
 * lengths of messages to post. */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "endpoints/spawn/wire.h"
#include "overlay/base/err.h"
#include "overlay/base/wire.h"

enum {
    PACKET_MAX = EP_WIRE_HEADER_BYTES + EP_WIRE_PIECE_BYTES + 16,
    PACKETS_MAX = 64,
    MESSAGES_MAX = 8
};

struct ends {
    struct ep_wire wire;
    int fd; /* the other end of the socket pair */
};

static void open_ends(struct ends *ends)
{
    int fds[2];

    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
    FUZZ_CHECK(ep_wire_init(&ends->wire, fds[0]) == 0);
    ends->fd = fds[1];
}

static void close_ends(struct ends *ends)
{
    ep_wire_fini(&ends->wire);
    if (ends->fd >= 0)
        close(ends->fd);
}

/* Returns the number that the next descriptor gets, which must be the same at
 * the end of a run. */
static int next_fd(void)
{
    int fd = dup(STDERR_FILENO);

    FUZZ_CHECK(fd >= 0);
    close(fd);
    return fd;
}

/* Reads all bytes of a message, so that a sanitizer notices when some are
 * missing. */
static void read_all(const struct ep_wire_in *in)
{
    static volatile uint8_t seen;

    for (uint32_t i = 0; i < in->len_bytes; i++)
        seen = in->body[i];
    (void)seen;
}

/* Takes messages from the wire. Returns false when the wire can no longer be
 * used. */
static bool take(struct ep_wire *wire)
{
    struct ep_wire_in in;
    int rc = ep_wire_recv(wire, &in);

    FUZZ_CHECK(rc == 0 || rc == OV_EAGAIN || rc == OV_ECLOSED ||
               rc == OV_EPROTO || rc == OV_ENOMEM);
    FUZZ_CHECK(rc == 0 || in.fd_count == 0);
    if (rc == 0) {
        FUZZ_CHECK(in.len_bytes <= EP_WIRE_BODY_MAX);
        FUZZ_CHECK(in.len_bytes == 0 || in.body != NULL);
        FUZZ_CHECK(in.fd_count <= EP_WIRE_FDS_MAX);
        read_all(&in);
        for (unsigned i = 0; i < in.fd_count; i++)
            close(in.fds[i]);
    }
    return rc == 0 || rc == OV_EAGAIN;
}

/* Sends a packet with as many descriptors as its head announces, up to the
 * allowed maximum. */
static void send_packet(int fd, const uint8_t *mem, size_t len_bytes)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(sizeof(int) * EP_WIRE_FDS_MAX)];
    } control = {.space = ""};
    struct iovec iov = {.iov_base = (void *)(uintptr_t)mem,
                        .iov_len = len_bytes};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    unsigned count = len_bytes > 2 ? mem[2] % (EP_WIRE_FDS_MAX + 1) : 0;

    if (count > 0) {
        struct cmsghdr *head = &control.align;
        int fds[EP_WIRE_FDS_MAX] = {fd, fd, fd, fd};

        msg.msg_control = &control;
        msg.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(head), fds, sizeof(int) * count);
    }
    FUZZ_CHECK(sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) ==
               (ssize_t)len_bytes);
}

static void play_packets(struct ov_rd *rd)
{
    struct ends ends;
    bool is_good = true;

    open_ends(&ends);
    for (unsigned i = 0; is_good && i < PACKETS_MAX; i++) {
        size_t len_bytes = ov_rd_u16(rd);

        if (len_bytes > ov_rd_left(rd))
            len_bytes = ov_rd_left(rd);
        if (rd->bad || len_bytes == 0 || len_bytes > PACKET_MAX)
            break;
        send_packet(ends.fd, ov_rd_bytes(rd, len_bytes), len_bytes);
        is_good = take(&ends.wire);
    }
    close_ends(&ends);
}

static struct ep_wire_out *make_message(uint8_t type, uint32_t len_bytes)
{
    struct ep_wire_out *out = ep_wire_out_new(type, len_bytes);

    FUZZ_CHECK(out != NULL);
    memset(out->body, type + (int)(len_bytes % 7), len_bytes);
    return out;
}

static void check_message(struct ep_wire *wire, uint8_t type,
                          uint32_t len_bytes)
{
    struct ep_wire_out *same = make_message(type, len_bytes);
    struct ep_wire_in in;

    FUZZ_CHECK(ep_wire_recv(wire, &in) == 0);
    FUZZ_CHECK(in.type == type && in.len_bytes == len_bytes);
    FUZZ_CHECK(len_bytes == 0 || memcmp(in.body, same->body, len_bytes) == 0);
    FUZZ_CHECK(in.fd_count == 0 && !in.fds_lost);
    ep_wire_out_free(same);
}

/* Posts messages; each is given by two bytes of length and one of type. */
static void play_messages(struct ov_rd *rd)
{
    struct ep_wire far;
    struct ends ends;

    open_ends(&ends);
    FUZZ_CHECK(ep_wire_init(&far, ends.fd) == 0);
    ends.fd = -1;
    for (unsigned i = 0; ov_rd_left(rd) >= 3 && i < MESSAGES_MAX; i++) {
        uint32_t len_bytes = ov_rd_u16(rd);
        uint8_t type = ov_rd_u8(rd);

        FUZZ_CHECK(ep_wire_post(&far, make_message(type, len_bytes), NULL, 0) ==
                   0);
        FUZZ_CHECK(ep_wire_is_empty(&far));
        check_message(&ends.wire, type, len_bytes);
    }
    ep_wire_fini(&far);
    close_ends(&ends);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    int before = next_fd();
    struct ov_rd rd = ov_rd_init(mem, len_bytes);

    if (len_bytes < 1)
        return 0;
    if (ov_rd_u8(&rd) % 2 == 0)
        play_packets(&rd);
    else
        play_messages(&rd);
    FUZZ_CHECK(next_fd() == before);
    return 0;
}
