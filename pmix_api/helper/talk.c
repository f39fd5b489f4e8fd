/* The helper's words to the launcher. */
#include "pmix_api/helper/talk.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>

void px_talk(const struct px_msg *msg)
{
    uint8_t mem[PX_PUSH_HEAD_BYTES + PX_PUSH_BYTES_MAX];
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    px_msg_encode(&wr, msg);
    if (wr.bad)
        return;
    while (send(TALK_FD, mem, (size_t)(wr.at - mem), MSG_NOSIGNAL) < 0 &&
           errno == EINTR)
        ;
}

void px_talk_output(const struct px_output *output)
{
    uint8_t head[PX_OUTPUT_HEAD_BYTES];
    struct ov_wr wr = ov_wr_init(head, sizeof(head));
    struct iovec parts[2] = {
        {.iov_base = head, .iov_len = sizeof(head)},
        {.iov_base = (void *)(uintptr_t)output->mem,
         .iov_len = output->len_bytes},
    };
    struct msghdr packet = {.msg_iov = parts, .msg_iovlen = 2};

    px_output_encode_head(&wr, output);
    while (sendmsg(TALK_FD, &packet, MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

void px_talk_kind(enum px_kind kind)
{
    px_talk(&(struct px_msg){.kind = kind});
}

void px_talk_note(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    px_talk(&(struct px_msg){.kind = PX_NOTE, .text = px_text(text)});
}
