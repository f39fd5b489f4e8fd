/* A helper of one PMIx tool, as a launcher would start it: the tool connects to
 * a port of this program, and libpmix gets its socket.
 *
 *     one_tool [OPTION...] DIR
 *
 * Makes the rendezvous file for tools in DIR, with its own process number in
 * its name, and takes one tool. The job is called one-job; what each channel of
 * each rank writes is the file DIR/source, from another place on for each, and
 * around: it begins (2 * rank + channel) * SHIFT bytes into it. What is pushed
 * to a rank is appended to DIR/RANK.in, and its end makes DIR/RANK.in.end.
 *
 *     -r RANKS  processes of the job (default: 2)
 *     -p SIZE   bytes of a piece of output (default: 65536)
 *     -w N      begins to write when there are so many pulls (default: 1)
 *     -n        refuses the tool
 *
 * Prints a line for all that happens: `port` with that of libpmix, `tool` with
 * the name that it brought, `pull`, `stop`, `push`, `given` when all is
 * delivered, `gone`; these two with the numbers of deliveries taken and given.
 * What else it asks for is answered as one_ask.c says, with lines `query` and
 * `qualifier`, `spawn`, `wish`, `app`, `words` and `env`, `control`, `log`,
 * `event` with a file of what the tool has notified, `note`; `kept` for what
 * has the key xylem.keep, or is the program keep: that waits for `answer`.
 *
 * Orders on stdin, a line each:
 *
 *     event CODE NAMESPACE             tells the tool, by enum px_lib_status
 *     of FILE                          that of another tool
 *     give [!]NAMESPACE RANK CHANNEL TEXT    a line; !: it is pulled
 *     answer                           what was kept
 *     slow 0|1
 *
 * The first three are answered with a line `told` and a code. Any other line is
 * answered with a line `now` that has the two numbers, too. Ends when the tool
 * has gone. */
#include "config.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pmix_api/helper/lib/lib.h"
#include "tests/pmix/one_ask.h"

enum { CHANNELS = 2, RANKS_MAX = 64, SHIFT = 4099, LOOK_MS = 20 };

static struct {
    const char *dir;
    uint32_t ranks;
    unsigned wanted; /* how many pulls to wait for before the output begins */
    size_t piece_bytes;
    const char *source;
    size_t source_bytes;
    bool refuses;
    char line[4096]; /* the line of stdin that has been read so far */
    size_t line_bytes;

    unsigned pulls;
    size_t given_bytes; /* how many bytes of each stream were delivered */
    uint32_t stream;    /* the next stream that is given a piece */
    uint64_t given;     /* how many deliveries there were */
    bool is_given, is_gone;
} one = {.ranks = 2, .wanted = 1, .piece_bytes = 65536};

static void die(const char *what)
{
    perror(what);
    _exit(1);
}

static void say(const char *what)
{
    printf("%s %llu %llu\n", what, (unsigned long long)px_lib_taken(),
           (unsigned long long)one.given);
    fflush(stdout);
}

/* --- requests of the tool */

static void on_tool(void *arg, const struct px_lib_name *wanted)
{
    static const struct px_lib_name given = {.nspace = "one-tool"};

    (void)arg;
    printf("tool %s\n", wanted != NULL ? wanted->nspace : "-");
    fflush(stdout);
    if (!one.refuses)
        px_lib_admit(wanted != NULL ? wanted : &given);
}

static enum px_lib_answer judge(const struct px_lib_pull *pull)
{
    if (pull->wish.strange != NULL)
        return PX_LIB_NOT_SUPPORTED;
    if (pull->wish.is_bad || pull->count == 0)
        return PX_LIB_BAD_PARAM;
    return strncmp(pull->targets[0].nspace, ONE_JOB, strlen(ONE_JOB)) == 0
               ? PX_LIB_YES
               : PX_LIB_NOT_FOUND;
}

static void on_pull(void *arg, const struct px_lib_pull *pull)
{
    enum px_lib_answer answer = judge(pull);

    (void)arg;
    printf("pull %u %zu %d %llu\n", pull->channels, pull->count,
           pull->wish.copies, (unsigned long long)pull->wish.cache_bytes);
    fflush(stdout);
    one.pulls += answer == PX_LIB_YES;
    px_lib_answer_pull(answer);
}

static void on_stop(void *arg)
{
    (void)arg;
    say("stop");
}

static void append(uint32_t rank, const struct px_lib_push *push)
{
    char path[4096];
    int fd;

    snprintf(path, sizeof(path), "%s/%u.in", one.dir, rank);
    fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, push->mem, push->len_bytes) < 0)
        die(path);
    close(fd);
    if (!push->is_end)
        return;
    strcat(path, ".end");
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        die(path);
    close(fd);
}

static void on_push(void *arg, const struct px_lib_push *push)
{
    (void)arg;
    for (size_t i = 0; i < push->count; i++) {
        for (uint32_t rank = 0; rank < one.ranks; rank++) {
            if (push->targets[i].rank == rank ||
                push->targets[i].rank == PX_LIB_ALL)
                append(rank, push);
        }
    }
    px_lib_answer(push->call,
                  push->strange != NULL ? PX_LIB_NOT_SUPPORTED : PX_LIB_YES);
}

/* --- output */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Gives a piece of the stream. False: there is no room. */
static bool give_piece(uint32_t stream)
{
    size_t at = (one.given_bytes + (size_t)stream * SHIFT) % one.source_bytes;
    size_t left = one.source_bytes - one.given_bytes;
    size_t size = least(one.piece_bytes, left);
    char *mem = malloc(size + 1);
    size_t first = least(size, one.source_bytes - at);
    struct px_lib_output output = {
        .nspace = ONE_JOB,
        .rank = stream / CHANNELS,
        .channel = stream % CHANNELS == 0 ? PX_LIB_STDOUT : PX_LIB_STDERR,
        .mem = mem,
        .len_bytes = size,
        .is_end = size == left,
    };
    bool is_given;

    memcpy(mem, one.source + at, first);
    memcpy(mem + first, one.source, size - first);
    is_given = px_lib_room() > 0 && px_lib_deliver(&output) == 0;
    free(mem);
    one.given += is_given;
    return is_given;
}

static void give(void)
{
    while (one.pulls >= one.wanted && !one.is_given && give_piece(one.stream)) {
        if (++one.stream < one.ranks * CHANNELS)
            continue;
        one.stream = 0;
        one.given_bytes +=
            least(one.piece_bytes, one.source_bytes - one.given_bytes);
        one.is_given = one.given_bytes == one.source_bytes;
        if (one.is_given)
            say("given");
    }
}

static void on_in(void *arg)
{
    (void)arg;
}

static void on_room(void *arg)
{
    (void)arg;
    give();
}

static void on_gone(void *arg)
{
    (void)arg;
    one.is_gone = true;
    one_answer_all(); /* Answering is harmless here, also when no request waits.
                       */
    say("gone");
}

/* --- start */

static void map_source(void)
{
    char path[4096];
    struct stat stat;
    int fd;

    snprintf(path, sizeof(path), "%s/source", one.dir);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &stat) != 0)
        die(path);
    one.source_bytes = (size_t)stat.st_size;
    one.source = mmap(NULL, one.source_bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (one.source == MAP_FAILED)
        die(path);
    close(fd);
}

static int listen_here(unsigned *port)
{
    struct sockaddr_in own = {.sin_family = AF_INET,
                              .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(own);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&own, len) != 0 ||
        listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)&own, &len) != 0)
        die("listen");
    *port = ntohs(own.sin_port);
    return fd;
}

/* Writes libpmix's own text, with our port instead of libpmix's. */
static void write_rendezvous(unsigned port)
{
    const char *text = px_lib_rendezvous();
    const char *line = strchr(text, '\n');
    const char *colon = line;
    char host[256], path[4096], temporary[4100];
    FILE *file;

    while (*colon != ':')
        colon--;
    gethostname(host, sizeof(host));
    snprintf(path, sizeof(path), "%s/pmix.%s.tool.%d", one.dir, host,
             (int)getpid());
    snprintf(temporary, sizeof(temporary), "%s.new", path);
    file = fopen(temporary, "w");
    if (file == NULL)
        die(temporary);
    fprintf(file, "%.*s:%u%s", (int)(colon - text), text, port, line);
    if (fclose(file) != 0 || rename(temporary, path) != 0)
        die(path);
    printf("port %d\n", atoi(colon + 1));
    printf("uri %.*s:%u\n", (int)(colon - text), text, port);
    fflush(stdout);
}

static void take_tool(int listener)
{
    int fd = accept(listener, NULL, NULL);

    close(listener);
    if (fd < 0 || px_lib_dial(fd) != 0)
        die("dial");
}

static void obey(char *line)
{
    if (!one_obey(line))
        say("now");
}

/* Reads stdin; each whole line is an order. */
static void read_orders(void)
{
    ssize_t got = read(STDIN_FILENO, one.line + one.line_bytes,
                       sizeof(one.line) - one.line_bytes);
    char *from = one.line, *end;

    if (got > 0)
        one.line_bytes += (size_t)got;
    while ((end = memchr(from, '\n',
                         (size_t)(one.line + one.line_bytes - from))) != NULL) {
        *end = '\0';
        obey(from);
        from = end + 1;
    }
    one.line_bytes -= (size_t)(from - one.line);
    memmove(one.line, from, one.line_bytes);
}

static void turn(void)
{
    struct pollfd polls[] = {{.fd = px_lib_fd(), .events = POLLIN},
                             {.fd = STDIN_FILENO, .events = POLLIN}};

    poll(polls, 2, LOOK_MS);
    px_lib_turn();
    px_lib_taken();
    give();
    if (polls[1].revents != 0)
        read_orders();
}

static const struct px_lib_events events = {.on_tool = on_tool,
                                            .on_in = on_in,
                                            .on_pull = on_pull,
                                            .on_stop = on_stop,
                                            .on_push = on_push,
                                            .on_query = one_on_query,
                                            .on_spawn = one_on_spawn,
                                            .on_control = one_on_control,
                                            .on_log = one_on_log,
                                            .on_event = one_on_event,
                                            .on_note = one_on_note,
                                            .on_room = on_room,
                                            .on_gone = on_gone};

static bool read_options(int argc, char **argv)
{
    int c;

    while ((c = getopt(argc, argv, "r:p:w:n")) != -1) {
        if (c == 'r')
            one.ranks = (uint32_t)atoi(optarg);
        else if (c == 'p')
            one.piece_bytes = (size_t)atol(optarg);
        else if (c == 'w')
            one.wanted = (unsigned)atoi(optarg);
        else if (c == 'n')
            one.refuses = true;
        else
            return false;
    }
    one.dir = argv[optind];
    return argc - optind == 1 && one.ranks <= RANKS_MAX;
}

int main(int argc, char **argv)
{
    struct px_lib_cfg cfg = {.nspace = "one-server",
                             .query_keys = one_query_keys,
                             .events = &events};
    unsigned port;
    const char *why;
    int listener;

    if (!read_options(argc, argv))
        return 2;
    cfg.dir = one.dir;
    one_ask_open(one.ranks, one.dir);
    map_source();
    why = px_lib_open(&cfg);
    if (why != NULL) {
        fprintf(stderr, "one_tool: %s\n", why);
        return 1;
    }
    px_lib_job(ONE_JOB, one.ranks);
    listener = listen_here(&port);
    write_rendezvous(port);
    take_tool(listener);
    while (!one.is_gone)
        turn();
    _exit(0); /* exit() could hang: threads of libpmix may be waiting for this
               * one */
}
