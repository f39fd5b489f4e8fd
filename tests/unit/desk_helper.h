/* The helper program in tests of the desk, started as HELPER DOES FOLDER; the
 * test says in DOES what the helper does. */
#ifndef TESTS_UNIT_DESK_HELPER_H
#define TESTS_UNIT_DESK_HELPER_H

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TIE_FD = 3, HEAD_BYTES = 16, WORD_BYTES = 32 };

static inline int take_tool(void)
{
    union {
        char mem[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    char byte;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    struct msghdr msg = {.msg_iov = &part,
                         .msg_iovlen = 1,
                         .msg_control = control.mem,
                         .msg_controllen = sizeof(control.mem)};
    int fd;

    if (recvmsg(TIE_FD, &msg, 0) != 1 || CMSG_FIRSTHDR(&msg) == NULL)
        _exit(0);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
    (void)!send(TIE_FD, "taken", 5, MSG_NOSIGNAL);
    return fd;
}

/* Plays libpmix: sends the tool this process's number, then obeys the tool. */
static inline void serve(int fd)
{
    char head[HEAD_BYTES], word[WORD_BYTES], byte;

    if (recv(fd, head, sizeof(head), MSG_WAITALL) != HEAD_BYTES)
        _exit(1);
    if (head[0] == 'd')
        raise(SIGKILL);
    (void)!send(TIE_FD, "in", 2, MSG_NOSIGNAL);
    snprintf(word, sizeof(word), "%-31d", (int)getpid());
    (void)!write(fd, word, sizeof(word));
    while (read(fd, &byte, 1) == 1) {
        if (byte == 'k')
            raise(SIGKILL);
        if (byte == 'x')
            _exit(7);
    }
    _exit(0);
}

/* Receives a tool's connection, and dies or hangs before it acknowledges it. */
static inline void falter(const char *does)
{
    struct pollfd tie = {.fd = TIE_FD, .events = POLLIN};

    poll(&tie, 1, -1);
    raise(strcmp(does, "falls") == 0 ? SIGKILL : SIGSTOP);
}

/* Counts in the file "tries" of the folder how often the helper was started. */
static inline unsigned count_try(const char *folder)
{
    char path[512];
    int fd;
    off_t size;

    snprintf(path, sizeof(path), "%s/tries", folder);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    (void)!write(fd, "x", 1);
    size = lseek(fd, 0, SEEK_END);
    close(fd);
    return (unsigned)size;
}

/* Waits as long as the folder contains the file "gate". */
static inline void pass_gate(const char *folder)
{
    char path[512];
    int fd;

    snprintf(path, sizeof(path), "%s/gate", folder);
    fd = open(path, O_RDWR | O_CREAT, 0600);
    flock(fd, LOCK_SH);
    close(fd);
}

static inline void desk_help(const char *does, const char *folder)
{
    char text[256];
    unsigned nth = count_try(folder);

    if (strcmp(does, "dies") == 0 || (strcmp(does, "late") == 0 && nth < 3) ||
        (strcmp(does, "once") == 0 && nth > 1 && nth < 12))
        _exit(5);
    if (strcmp(does, "says") == 0)
        snprintf(text, sizeof(text), "libpmix has no plugins");
    else
        snprintf(text, sizeof(text),
                 "xylem-x-server.0;tcp4://127.0.0.1:9\n4.2\n%d\nmore\n",
                 (int)getpid());
    if (nth > 1)
        pass_gate(folder);
    if (send(TIE_FD, text, strlen(text), MSG_NOSIGNAL) < 0 ||
        strcmp(does, "says") == 0)
        _exit(1);
    if (nth < 3 && (strcmp(does, "falls") == 0 || strcmp(does, "hangs") == 0))
        falter(does);
    serve(take_tool());
}

#endif
