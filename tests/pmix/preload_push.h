/* Recognises the pushes among the messages that a tool's helper sends. */
#ifndef TESTS_PMIX_PRELOAD_PUSH_H
#define TESTS_PMIX_PRELOAD_PUSH_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* True when the message goes to the session's door: apart from the tie, only
 * the door has sockets of packets. */
static bool is_push(int fd, const struct msghdr *msg)
{
    enum { PUSH = 15 };
    int type = 0;
    socklen_t len = sizeof(type);

    return strcmp(program_invocation_short_name, "xylem-pmix") == 0 &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
           type == SOCK_SEQPACKET && msg->msg_iovlen > 0 &&
           msg->msg_iov[0].iov_len > 0 &&
           *(const uint8_t *)msg->msg_iov[0].iov_base == PUSH;
}

#endif
