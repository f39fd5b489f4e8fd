/* The helper's tie to the launcher. */
#include "pmix_api/helper/tie.h"

#include <string.h>
#include <sys/socket.h>

#include "overlay/base/err.h"

int px_tie_say(const char *text)
{
    return send(PX_TIE_FD, text, strlen(text), MSG_NOSIGNAL) < 0 ? OV_ESYS : 0;
}

int px_tie_take(void)
{
    union {
        char mem[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    char byte;
    struct iovec part = {.iov_base = &byte, .iov_len = sizeof(byte)};
    struct msghdr msg = {.msg_iov = &part,
                         .msg_iovlen = 1,
                         .msg_control = control.mem,
                         .msg_controllen = sizeof(control.mem)};
    const struct cmsghdr *head;
    int fd = -1;

    if (recvmsg(PX_TIE_FD, &msg, MSG_CMSG_CLOEXEC) <= 0)
        return -1;
    head = CMSG_FIRSTHDR(&msg);
    if (head != NULL && head->cmsg_level == SOL_SOCKET &&
        head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(fd)))
        memcpy(&fd, CMSG_DATA(head), sizeof(fd));
    return fd;
}
