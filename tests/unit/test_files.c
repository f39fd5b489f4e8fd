/* Output files of processes: their contents, how few are open at a time, and
 * what happens after errors. */
#include "config.h"

#include "endpoints/output/output.h"

#include "tests/unit/no_threads.h"
#include "tests/unit/rig.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <event2/event.h>

#include "endpoints/output/files.h"
#include "endpoints/sys/writer.h"
#include "overlay/base/err.h"

enum { PROCS = 64, SOURCES = PROCS * 2 };

struct rig {
    struct event_base *base;
    struct ep_writer *writer;
    struct ep_output *out;
    struct ep_output_cfg cfg;
    char dir[256];
    unsigned sent;
    unsigned taken;
    unsigned drained;
    unsigned errors;
    uint64_t sent_bytes;
    uint64_t written_bytes[EP_OUTPUT_PLACES];
    uint64_t seq[SOURCES]; /* the number of each source's last record that was
                            * taken */
    int err;
    char why[5000];
};

/* A record that was not taken yet; its address is the cookie. */
struct record {
    uint8_t *mem; /* owned */
    int takers;
    unsigned source;
    uint64_t seq;
};

static void on_written(void *arg, enum ep_output_place place, uint32_t proc,
                       uint8_t channel, const void *mem, uint32_t len_bytes)
{
    struct rig *rig = arg;

    (void)proc;
    (void)channel;
    assert_non_null(mem);
    rig->written_bytes[place] += len_bytes;
}

static void on_taken(void *arg, uint64_t cookie)
{
    struct rig *rig = arg;
    struct record *rec = (struct record *)(uintptr_t)cookie;

    assert_true(rec->takers > 0); /* records are never taken from within the
                                   * call */
    if (--rec->takers > 0)
        return;
    assert_true(rec->seq > rig->seq[rec->source]);
    rig->seq[rec->source] = rec->seq;
    rig->taken++;
    free(rec->mem);
    free(rec);
}

static void on_error(void *arg, uint8_t channel, int err, const char *why)
{
    struct rig *rig = arg;

    assert_int_equal(channel, 0);
    rig->errors++;
    rig->err = err;
    snprintf(rig->why, sizeof(rig->why), "%s", why);
}

static void on_drained(void *arg)
{
    ((struct rig *)arg)->drained++;
}

static void on_note(void *arg, const char *text)
{
    (void)arg;
    fail_msg("%s", text);
}

static const struct ep_output_events events = {
    .on_written = on_written,
    .on_taken = on_taken,
    .on_error = on_error,
    .on_drained = on_drained,
    .on_note = on_note,
};

static void rig_prepare(struct rig *rig, enum ep_names_kind kind,
                        const char *text)
{
    static unsigned count;
    const char *tmp = getenv("TMPDIR");

    memset(rig, 0, sizeof(*rig));
    snprintf(rig->dir, sizeof(rig->dir), "%.180s/files-%d-%u",
             tmp != NULL ? tmp : "/tmp", (int)getpid(), count++);
    assert_int_equal(mkdir(rig->dir, 0700), 0);
    assert_int_equal(chdir(rig->dir), 0);
    ep_console_cfg_init(&rig->cfg.console);
    rig->cfg.console.style.nspace = "job";
    rig->cfg.file_only = true;
    rig->cfg.names.kind = kind;
    rig->cfg.names.text = text;
    rig->cfg.events = &events;
    rig->cfg.arg = rig;
}

static void rig_open(struct rig *rig)
{
    bool is_files;

    rig->base = event_base_new();
    assert_non_null(rig->base);
    assert_int_equal(ep_writer_open(rig->base, &rig->writer), 0);
    rig->cfg.console.base = rig->base;
    rig->cfg.console.writer = rig->writer;
    assert_int_equal(ep_output_open(&rig->cfg, &rig->out, &is_files), 0);
}

static void rig_send(struct rig *rig, uint32_t rank, uint8_t channel,
                     const void *mem, size_t len, bool is_eof)
{
    struct record *in = calloc(1, sizeof(*in));
    struct job_record rec = {.proc = rank + 1000,
                             .rank = rank,
                             .host = rank % 2 ? "odd" : "even",
                             .len_bytes = (uint32_t)len,
                             .cookie = (uint64_t)(uintptr_t)in,
                             .channel = channel,
                             .is_end = is_eof};

    in->source = rank * 2 + channel - 1;
    in->seq = ++rig->sent;
    in->mem = malloc(len + 1);
    if (len > 0)
        rec.mem = memcpy(in->mem, mem, len);
    rig->sent_bytes += len;
    in->takers = ep_output_record(rig->out, &rec);
    assert_int_equal(in->takers, ep_output_places(rig->out));
}

static void rig_say(struct rig *rig, uint32_t rank, const char *text)
{
    rig_send(rig, rank, TEXT_CHANNEL_STDOUT, text, strlen(text), false);
}

static void rig_eof(struct rig *rig, uint32_t rank)
{
    rig_send(rig, rank, TEXT_CHANNEL_STDOUT, "", 0, true);
    rig_send(rig, rank, TEXT_CHANNEL_STDERR, "", 0, true);
}

static void rig_finish(struct rig *rig)
{
    const unsigned before = rig->drained;

    ep_output_finish(rig->out);
    while (rig->drained == before || rig->taken < rig->sent)
        event_base_loop(rig->base, EVLOOP_ONCE);
    assert_int_equal(ep_output_pending(rig->out), 0);
    assert_int_equal(rig->taken, rig->sent);
}

static void rig_close(struct rig *rig)
{
    if (rig->errors == 0)
        assert_int_equal(rig->written_bytes[EP_OUTPUT_FILES], rig->sent_bytes);
    ep_output_close(rig->out);
    ep_writer_close(rig->writer, true);
    event_base_free(rig->base);
}

static void expect_bytes(const char *path, const void *want, size_t len)
{
    char *got = malloc(len + 2);
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        fail_msg("%s: %s", path, strerror(errno));
    assert_int_equal(read(fd, got, len + 2), len);
    assert_memory_equal(got, want, len);
    close(fd);
    free(got);
}

static void expect(const char *path, const char *want)
{
    expect_bytes(path, want, strlen(want));
}

/* NULs, a CR, no newline at the end: nothing is added or left out. */
static void each_channel_has_its_bytes(void **state)
{
    static const char odd[] = "a\r\n\0\0\n\xff no end";
    static char line[65536];
    struct rig rig;

    (void)state;
    rig_prepare(&rig, EP_NAMES_DIR, "deep/er");
    rig_open(&rig);
    memset(line, 'x', sizeof(line));
    line[sizeof(line) - 1] = '\n';
    rig_say(&rig, 0, "one\ntw");
    rig_send(&rig, 1, TEXT_CHANNEL_STDOUT, odd, sizeof(odd) - 1, true);
    rig_send(&rig, 0, TEXT_CHANNEL_STDERR, "bad\n", 4, true);
    rig_say(&rig, 0, "o\n");
    rig_send(&rig, 2, TEXT_CHANNEL_STDOUT, line, sizeof(line), false);
    rig_eof(&rig, 3);
    rig_finish(&rig);
    expect("deep/er/job/rank.0/stdout", "one\ntwo\n");
    expect("deep/er/job/rank.0/stderr", "bad\n");
    expect_bytes("deep/er/job/rank.1/stdout", odd, sizeof(odd) - 1);
    expect_bytes("deep/er/job/rank.2/stdout", line, sizeof(line));
    expect("deep/er/job/rank.3/stdout", "");
    expect("deep/er/job/rank.3/stderr", "");
    rig_close(&rig);
}

static unsigned count_open(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;

    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

/* 128 files, 5 of them open at a time: each is opened many times and gets all
 * its bytes. The size of the table of descriptors shows how many were ever
 * open. */
static void few_files_are_open_at_a_time(void **state)
{
    static uint64_t seed = 20261122;
    static char said[SOURCES][4096];
    unsigned before, most = 0;
    struct rig rig;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    rig_prepare(&rig, EP_NAMES_FILE, "of");
    rig.cfg.open_max = 5;
    rig.cfg.names.is_new = true;
    rig_open(&rig);
    before = count_open();
    for (int i = 0; i < 4000; i++) {
        unsigned source = rig_random(&seed) % SOURCES, open_now;
        char text[64];
        int len = snprintf(text, sizeof(text), "%d of %u\n", i, source);

        if (rig_random(&seed) % 3 == 0)
            text[len - 1] = ' ';
        strcat(said[source], text);
        rig_send(&rig, source / 2, (uint8_t)(source % 2 + 1), text, (size_t)len,
                 false);
        if (rig_random(&seed) % 8 == 0)
            event_base_loop(rig.base, EVLOOP_NONBLOCK);
        open_now = count_open();
        most = open_now > most ? open_now : most;
    }
    rig_finish(&rig);
    assert_true(most <= before + 5);
    assert_int_equal(count_open(), before);
    for (unsigned source = 0; source < SOURCES; source++) {
        char path[64];

        snprintf(path, sizeof(path), "of.job.%u.%s", source / 2,
                 source % 2 ? "stderr" : "stdout");
        expect(path, said[source]);
    }
    rig_close(&rig);
}

static void labels_and_formats_are_in_files_too(void **state)
{
    struct rig rig;

    (void)state;
    rig_prepare(&rig, EP_NAMES_PATTERN, "l-%r");
    rig.cfg.console.style.label = TEXT_LABEL_FULL;
    rig_open(&rig);
    rig_say(&rig, 0, "one\ntw");
    rig_say(&rig, 1, "half");
    rig_send(&rig, 0, TEXT_CHANNEL_STDOUT, "o", 1, true);
    rig_finish(&rig); /* the end of rank 1 has not come */
    expect("l-0.stdout", "[job,0]<stdout>: one\n[job,0]<stdout>: two\n");
    expect("l-1.stdout", "[job,1]<stdout>: half\n");
    rig_close(&rig);
    rig_prepare(&rig, EP_NAMES_PATTERN, "j-%r");
    rig.cfg.console.style.format = TEXT_FORMAT_JSON;
    rig_open(&rig);
    rig_say(&rig, 1, "on\"e\nend");
    rig_finish(&rig);
    expect("j-1.stdout",
           "{\"nspace\":\"job\",\"rank\":1,\"host\":\"odd\",\"channel\":"
           "\"stdout\",\"text\":\"on\\\"e\"}\n"
           "{\"nspace\":\"job\",\"rank\":1,\"host\":\"odd\",\"channel\":"
           "\"stdout\",\"text\":\"end\",\"newline\":false}\n");
    rig_close(&rig);
}

/* All processes of a host share one file. Its earlier contents are gone. */
static void a_pattern_without_rank_is_shared(void **state)
{
    struct rig rig;
    FILE *file;

    (void)state;
    rig_prepare(&rig, EP_NAMES_PATTERN, "%h");
    file = fopen("even.stdout", "we");
    fputs("older and longer than what comes\n", file);
    fclose(file);
    rig_open(&rig);
    rig_say(&rig, 0, "zero\n");
    rig_say(&rig, 1, "one\n");
    rig_say(&rig, 2, "two, half");
    rig_eof(&rig, 0);
    rig_say(&rig, 4, "four\n");
    rig_finish(&rig);
    expect("even.stdout", "zero\ntwo, half\nfour\n");
    expect("odd.stdout", "one\n");
    rig_close(&rig);
}

/* Makes a file with this name before the test, because names must be new. */
static void make_first(struct rig *rig, const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    rig->cfg.names.is_new = true;
}

/* The first record is refused, and all that follow; none stays in hand. */
static void error_names_the_file(const char *path, const char *words)
{
    struct rig rig;

    rig_prepare(&rig, EP_NAMES_PATTERN, "%r");
    if (strstr(words, "link") != NULL)
        assert_int_equal(symlink("/dev/null", path), 0);
    else if (strstr(words, "directory") != NULL)
        assert_int_equal(mkdir(path, 0700), 0);
    else if (strstr(words, "exists already") != NULL)
        make_first(&rig, path);
    else
        assert_int_equal(mkfifo(path, 0600), 0);
    rig_open(&rig);
    rig_say(&rig, 0, "fine\n");
    rig_say(&rig, 1, "not\n");
    while (rig.errors == 0)
        event_base_loop(rig.base, EVLOOP_ONCE);
    rig_say(&rig, 2, "too late\n");
    rig_finish(&rig);
    assert_int_equal(rig.errors, 1);
    assert_non_null(strstr(rig.why, path));
    assert_non_null(strstr(rig.why, words));
    assert_int_equal(rig.written_bytes[EP_OUTPUT_FILES] +
                         ep_output_dropped(rig.out),
                     rig.sent_bytes);
    expect("0.stdout", "fine\n");
    rig_close(&rig);
}

static void what_is_in_the_way_is_told(void **state)
{
    (void)state;
    error_names_the_file("1.stdout", "symbolic link");
    error_names_the_file("1.stdout", "it is a directory");
    error_names_the_file("1.stdout", "not a regular file");
    error_names_the_file("1.stdout", "exists already and is not overwritten");
}

static atomic_bool is_held_up, is_asked; /* state of the thread that formats the
                                          * error message */

/* Replaces strerror() of the C library, and takes as long as the test wants. */
char *strerror(int err)
{
    atomic_store(&is_asked, true);
    while (atomic_load(&is_held_up))
        sched_yield();
    return (char *)(uintptr_t)(err == ENOTDIR ? "Not a directory" : "other");
}

static void an_error_is_told_when_its_sentence_is_whole(void **state)
{
    struct rig rig;

    (void)state;
    rig_prepare(&rig, EP_NAMES_PATTERN, "%r/it");
    make_first(&rig, "1");
    rig_open(&rig);
    atomic_store(&is_asked, false);
    atomic_store(&is_held_up, true);
    rig_say(&rig, 1, "not\n");
    while (!atomic_load(&is_asked))
        sched_yield();
    ep_output_finish(rig.out);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    assert_int_equal(rig.errors, 0);
    atomic_store(&is_held_up, false);
    rig_finish(&rig);
    assert_int_equal(rig.errors, 1);
    assert_string_equal(rig.why,
                        "cannot write to '1/it.stdout': Not a directory");
    rig_close(&rig);
}

/* The file fails as on a disk that becomes full in the middle of a record. */
static void a_file_that_cannot_grow_ends_it(void **state)
{
    static char bytes[100000];
    struct rlimit old, small;
    struct rig rig;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){.rlim_cur = 5000, .rlim_max = old.rlim_max};
    rig_prepare(&rig, EP_NAMES_DIR, "d");
    rig_open(&rig);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    rig_send(&rig, 3, TEXT_CHANNEL_STDOUT, bytes, sizeof(bytes), false);
    rig_finish(&rig);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(rig.err, EFBIG);
    assert_non_null(strstr(rig.why, "'d/job/rank.3/stdout'"));
    assert_int_equal(ep_output_dropped(rig.out), sizeof(bytes));
    rig_close(&rig);
}

static void a_thread_that_cannot_be_made_ends_it(void **state)
{
    struct rig rig;

    (void)state;
    rig_prepare(&rig, EP_NAMES_DIR, "d");
    rig_open(&rig);
    has_no_threads = true;
    rig_say(&rig, 3, "line\n");
    has_no_threads = false;
    rig_say(&rig, 3, "more\n");
    rig_finish(&rig);
    assert_int_equal(rig.err, EAGAIN);
    assert_string_equal(rig.why, "cannot write output files: no more threads");
    assert_int_equal(ep_output_dropped(rig.out), 10);
    assert_int_equal(rig.taken, 2);
    rig_close(&rig);
}

static void a_directory_that_cannot_be_made_is_told_at_once(void **state)
{
    struct ep_output *out;
    struct rig rig;
    bool is_files;

    (void)state;
    rig_prepare(&rig, EP_NAMES_DIR, "/proc/none");
    rig.base = event_base_new();
    assert_int_equal(ep_writer_open(rig.base, &rig.writer), 0);
    rig.cfg.console.base = rig.base;
    rig.cfg.console.writer = rig.writer;
    assert_int_equal(ep_output_open(&rig.cfg, &out, &is_files), OV_ESYS);
    assert_true(is_files);
    rig.cfg.names.kind = EP_NAMES_NONE;
    assert_int_equal(ep_output_open(&rig.cfg, &out, &is_files), OV_EINVAL);
    ep_writer_close(rig.writer, true);
    event_base_free(rig.base);
}

/* When the console is not read, a record is not taken although its file has it;
 * both have everything at the end. */
static void a_record_is_taken_when_both_places_have_it(void **state)
{
    static char bytes[60000];
    char back[4096];
    size_t read_bytes = 0;
    struct rig rig;
    int fds[2];

    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    rig_prepare(&rig, EP_NAMES_DIR, "d");
    rig.cfg.file_only = false;
    rig.cfg.console.fd_stdout = fds[1];
    rig_open(&rig);
    close(fds[1]);
    memset(bytes, 'x', sizeof(bytes));
    bytes[sizeof(bytes) - 1] = '\n';
    for (int i = 0; i < 10; i++) /* more than the pipe holds */
        rig_send(&rig, 3, TEXT_CHANNEL_STDOUT, bytes, sizeof(bytes), false);
    while (rig.written_bytes[EP_OUTPUT_FILES] < rig.sent_bytes)
        event_base_loop(rig.base, EVLOOP_ONCE);
    assert_true(rig.taken < rig.sent);
    while (read_bytes < rig.sent_bytes) {
        ssize_t got = read(fds[0], back, sizeof(back));

        assert_true(got > 0);
        read_bytes += (size_t)got;
        event_base_loop(rig.base, EVLOOP_NONBLOCK);
    }
    rig_finish(&rig);
    assert_int_equal(rig.written_bytes[EP_OUTPUT_CONSOLE], rig.sent_bytes);
    close(fds[0]);
    rig_close(&rig);
}

/* The thread may be doing anything. */
static void giving_up_takes_all(void **state)
{
    struct rig rig;

    (void)state;
    rig_prepare(&rig, EP_NAMES_DIR, "d");
    rig_open(&rig);
    for (uint32_t rank = 0; rank < PROCS; rank++)
        rig_say(&rig, rank, "some words\n");
    ep_output_give_up(rig.out);
    rig.errors = 1; /* no further error is reported */
    rig_say(&rig, 1, "late\n");
    rig_finish(&rig);
    assert_int_equal(rig.errors, 1);
    assert_int_equal(rig.written_bytes[EP_OUTPUT_FILES] +
                         ep_output_dropped(rig.out),
                     rig.sent_bytes);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_channel_has_its_bytes),
        cmocka_unit_test(few_files_are_open_at_a_time),
        cmocka_unit_test(labels_and_formats_are_in_files_too),
        cmocka_unit_test(a_pattern_without_rank_is_shared),
        cmocka_unit_test(what_is_in_the_way_is_told),
        cmocka_unit_test(an_error_is_told_when_its_sentence_is_whole),
        cmocka_unit_test(a_file_that_cannot_grow_ends_it),
        cmocka_unit_test(a_thread_that_cannot_be_made_ends_it),
        cmocka_unit_test(a_directory_that_cannot_be_made_is_told_at_once),
        cmocka_unit_test(a_record_is_taken_when_both_places_have_it),
        cmocka_unit_test(giving_up_takes_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
