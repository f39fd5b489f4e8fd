/* The gate: two fifos, see the header. */
#include "bench/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int gate_open(const char *gate, const char *name, int flags)
{
    char path[PATH_MAX];
    int fd;

    snprintf(path, sizeof path, "%s/%s", gate, name);
    do
        fd = open(path, flags | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        fprintf(stderr, "gate %s: %s\n", path, strerror(errno));
        exit(1);
    }
    return fd;
}

void gate_report(const char *gate)
{
    int fd = gate_open(gate, "ready", O_WRONLY);

    if (write(fd, "r", 1) != 1) {
        perror("gate: reporting");
        exit(1);
    }
    close(fd);
}

void gate_wait(const char *gate)
{
    gate_report(gate);
    close(gate_open(gate, "go", O_RDONLY)); /* returns when it is opened */
}
