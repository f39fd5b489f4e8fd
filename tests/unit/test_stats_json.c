/* The --stats report: its exact text, and what happens to the file. */
#include "endpoints/run/stats_json.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "endpoints/fabric/transport.h"
#include "overlay/base/err.h"

static char dir[400];
static char path[500];

static const uint32_t lost[] = {7, 4000000000};

static const struct ep_proof_verdict proof = {
    .channels = 256,
    .counts = {[EP_PROOF_COMPLETE] = 250,
               [EP_PROOF_MISSING] = 1,
               [EP_PROOF_LOST] = 2,
               [EP_PROOF_GIVEN_UP] = 3},
    .bytes = 1ull << 50,
    .gaps = {.count = 1,
             .at = {{.rank = 3,
                     .channel = OV_CHANNEL_STDERR,
                     .reason = EP_PROOF_MISSING,
                     .is_end_known = true,
                     .expected_bytes = 20,
                     .delivered_bytes = 10}}},
    .lost = {.count = 1,
             .at = {{.rank = 5,
                     .channel = OV_CHANNEL_STDOUT,
                     .reason = EP_PROOF_LOST,
                     .delivered_bytes = 7}}},
};

static char one_line[] = "out of \303\244mory", other_line[] = "b\377d";
static char *lines[] = {one_line, other_line};
static const struct ep_stats_first firsts[] = {{3, "a", 7 << 8}, {5, "b", 11}};
static char ranks[] = "3,5,...", hosts[] = "a,b", rank[] = "9";
static const struct ep_stats_end ends[] = {
    {.by = "itself",
     .status = 7 << 8,
     .count = 70,
     .ranks = ranks,
     .hosts = hosts},
    {.by = "xylem", .count = 1, .ranks = rank}};

static struct ep_stats sample = {
    .nodes = 64,
    .procs = 128,
    .arity = 32,
    .depth = 2,
    .provider = "tcp",
    .wall_s = 12.25,
    .launch_s = 0.1,
    .stdin_bytes = 1ull << 40,
    .stdout_bytes = 5,
    .stderr_bytes = 0,
    .stddiag_bytes = 6,
    .exit_code = 137,
    .launcher = {.rss_peak_bytes = 9000000,
                 .rss_bound_bytes = 10000000,
                 .cpu_s = 1.5},
    .daemons = {.count = 3,
                .rss_peak_bytes_max = 8000000,
                .rss_bound_bytes = 8500000,
                .cpu_s_sum = 2,
                .lines_in_pieces = 7},
    .frames = {.up = 10, .down = 20},
    .lost_nodes = lost,
    .lost_count = 2,
    .repairs = {.count = 3, .longest_s = 0.5},
    .refused_peers = 10000,
    .proof = &proof,
    .ends = {.firsts = firsts,
             .firsts_count = 2,
             .firsts_s = 0.25,
             .lines = lines,
             .lines_count = 2,
             .at = ends,
             .count = 2},
};

/* What was left out of one rank of two, of which nothing else is known. */
static const struct run_left *make_left(void)
{
    static const struct job_word word = {
        .limited_lines = 2,
        .left = {[TEXT_LEFT_PROGRESS] = {.lines = 8, .bytes = 90},
                 [TEXT_LEFT_GREP] = {.lines = 1, .bytes = 5}}};
    static struct run_left *left;

    if (left == NULL) {
        assert_int_equal(ep_left_open(2, &left), 0);
        ep_left_hear(left, 1, &word);
    }
    return left;
}

static int enter(void **state)
{
    const char *tmp = getenv("TMPDIR");

    (void)state;
    snprintf(dir, sizeof(dir), "%.370s/xylem-stats-XXXXXX",
             tmp == NULL ? "/tmp" : tmp);
    if (mkdtemp(dir) == NULL)
        return -1;
    snprintf(path, sizeof(path), "%s/report.json", dir);
    sample.left = make_left();
    return 0;
}

static int leave(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

static unsigned files_in_dir(void)
{
    unsigned count = 0;
    DIR *d = opendir(dir);

    assert_non_null(d);
    while (readdir(d) != NULL)
        count++;
    closedir(d);
    return count - 2;
}

static const char *slurp(const char *name)
{
    static char text[4096];
    FILE *f = fopen(name, "r");
    size_t len;

    assert_non_null(f);
    len = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[len] = '\0';
    return text;
}

static const char sample_text[] = "{\n"
                                  "  \"nodes\": 64,\n"
                                  "  \"procs\": 128,\n"
                                  "  \"arity\": 32,\n"
                                  "  \"depth\": 2,\n"
                                  "  \"provider\": \"tcp\",\n"
                                  "  \"wall_s\": 12.25,\n"
                                  "  \"launch_s\": 0.1,\n"
                                  "  \"stdin_bytes\": 1099511627776,\n"
                                  "  \"stdout_bytes\": 5,\n"
                                  "  \"stderr_bytes\": 0,\n"
                                  "  \"stddiag_bytes\": 6,\n"
                                  "  \"exit_code\": 137,\n"
                                  "  \"launcher\": {\n"
                                  "    \"rss_peak_bytes\": 9000000,\n"
                                  "    \"rss_bound_bytes\": 10000000,\n"
                                  "    \"cpu_s\": 1.5\n"
                                  "  },\n"
                                  "  \"daemons\": {\n"
                                  "    \"count\": 3,\n"
                                  "    \"rss_peak_bytes_max\": 8000000,\n"
                                  "    \"rss_bound_bytes\": 8500000,\n"
                                  "    \"cpu_s_sum\": 2.0,\n"
                                  "    \"lines_in_pieces\": 7\n"
                                  "  },\n"
                                  "  \"left_out\": {\n"
                                  "    \"at_least\": true,\n"
                                  "    \"limited_lines\": 2,\n"
                                  "    \"reasons\": {\n"
                                  "      \"progress\": {\n"
                                  "        \"lines\": 8,\n"
                                  "        \"bytes\": 90\n"
                                  "      },\n"
                                  "      \"grep\": {\n"
                                  "        \"lines\": 1,\n"
                                  "        \"bytes\": 5\n"
                                  "      },\n"
                                  "      \"grep_v\": {\n"
                                  "        \"lines\": 0,\n"
                                  "        \"bytes\": 0\n"
                                  "      },\n"
                                  "      \"rate\": {\n"
                                  "        \"lines\": 0,\n"
                                  "        \"bytes\": 0\n"
                                  "      },\n"
                                  "      \"lines\": {\n"
                                  "        \"lines\": 0,\n"
                                  "        \"bytes\": 0\n"
                                  "      },\n"
                                  "      \"budget\": {\n"
                                  "        \"lines\": 0,\n"
                                  "        \"bytes\": 0\n"
                                  "      },\n"
                                  "      \"room\": {\n"
                                  "        \"lines\": 0,\n"
                                  "        \"bytes\": 0\n"
                                  "      }\n"
                                  "    },\n"
                                  "    \"ranks\": [\n"
                                  "      {\n"
                                  "        \"rank\": 1,\n"
                                  "        \"reason\": \"progress\",\n"
                                  "        \"lines\": 8,\n"
                                  "        \"bytes\": 90\n"
                                  "      },\n"
                                  "      {\n"
                                  "        \"rank\": 1,\n"
                                  "        \"reason\": \"grep\",\n"
                                  "        \"lines\": 1,\n"
                                  "        \"bytes\": 5\n"
                                  "      }\n"
                                  "    ]\n"
                                  "  },\n"
                                  "  \"frames\": {\n"
                                  "    \"up\": 10,\n"
                                  "    \"down\": 20\n"
                                  "  },\n"
                                  "  \"repairs\": {\n"
                                  "    \"count\": 3,\n"
                                  "    \"longest_s\": 0.5\n"
                                  "  },\n"
                                  "  \"lost_nodes\": [\n"
                                  "    7,\n"
                                  "    4000000000\n"
                                  "  ],\n"
                                  "  \"refused_peers\": 10000,\n"
                                  "  \"proof\": {\n"
                                  "    \"channels\": 256,\n"
                                  "    \"complete\": 250,\n"
                                  "    \"given_up\": 3,\n"
                                  "    \"bytes\": 1125899906842624,\n"
                                  "    \"gaps\": [\n"
                                  "      {\n"
                                  "        \"rank\": 3,\n"
                                  "        \"channel\": \"stderr\",\n"
                                  "        \"expected_bytes\": 20,\n"
                                  "        \"delivered_bytes\": 10,\n"
                                  "        \"reason\": \"missing\"\n"
                                  "      },\n"
                                  "      {\n"
                                  "        \"rank\": 5,\n"
                                  "        \"channel\": \"stdout\",\n"
                                  "        \"expected_bytes\": null,\n"
                                  "        \"delivered_bytes\": 7,\n"
                                  "        \"reason\": \"lost\"\n"
                                  "      }\n"
                                  "    ]\n"
                                  "  },\n"
                                  "  \"first_failures\": [\n"
                                  "    {\n"
                                  "      \"rank\": 3,\n"
                                  "      \"host\": \"a\",\n"
                                  "      \"exit_code\": 7,\n"
                                  "      \"signal\": null\n"
                                  "    },\n"
                                  "    {\n"
                                  "      \"rank\": 5,\n"
                                  "      \"host\": \"b\",\n"
                                  "      \"exit_code\": null,\n"
                                  "      \"signal\": 11\n"
                                  "    }\n"
                                  "  ],\n"
                                  "  \"first_failures_s\": 0.25,\n"
                                  "  \"last_lines\": [\n"
                                  "    \"out of \u00e4mory\",\n"
                                  "    \"b.d\"\n"
                                  "  ],\n"
                                  "  \"ends\": [\n"
                                  "    {\n"
                                  "      \"by\": \"itself\",\n"
                                  "      \"count\": 70,\n"
                                  "      \"ranks\": \"3,5,...\",\n"
                                  "      \"hosts\": \"a,b\",\n"
                                  "      \"exit_code\": 7,\n"
                                  "      \"signal\": null\n"
                                  "    },\n"
                                  "    {\n"
                                  "      \"by\": \"xylem\",\n"
                                  "      \"count\": 1,\n"
                                  "      \"ranks\": \"9\",\n"
                                  "      \"hosts\": null,\n"
                                  "      \"exit_code\": null,\n"
                                  "      \"signal\": null\n"
                                  "    }\n"
                                  "  ]\n"
                                  "}\n";

static void report_is_this_text(void **state)
{
    char why[EP_WHY_MAX] = "";

    (void)state;
    assert_int_equal(ep_stats_write(path, &sample, why), 0);
    assert_string_equal(slurp(path), sample_text);
    assert_int_equal(files_in_dir(), 1);
}

/* Zeroes, no provider, no lost node, and numbers beyond the range of JSON
 * readers. */
static void edges_of_the_numbers_stay_json(void **state)
{
    const struct ep_proof_verdict nothing = {.channels = 0};
    struct ep_stats stats = {.frames = {.up = UINT64_MAX}, .proof = &nothing};
    char why[EP_WHY_MAX] = "";
    json_error_t error;
    json_t *json;

    (void)state;
    assert_int_equal(ep_stats_write(path, &stats, why), 0);
    json = json_load_file(path, 0, &error);
    assert_non_null(json);
    assert_true(json_is_null(json_object_get(json, "provider")));
    assert_int_equal(json_array_size(json_object_get(json, "lost_nodes")), 0);
    assert_true(json_integer_value(json_object_get(
                    json_object_get(json, "frames"), "up")) == INT64_MAX);
    json_decref(json);
    stats.wall_s = (double)NAN;
    assert_int_equal(ep_stats_write(path, &stats, why), OV_EINVAL);
    assert_non_null(strstr(why, "not a number"));
}

/* A reader that has the old report open keeps the whole old report. */
static void old_report_is_replaced_not_rewritten(void **state)
{
    char why[EP_WHY_MAX] = "", old_text[16] = "";
    struct stat before, after;
    FILE *old = fopen(path, "w+");

    (void)state;
    assert_non_null(old);
    fputs("old", old);
    fflush(old);
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(ep_stats_write(path, &sample, why), 0);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_ino != after.st_ino);
    rewind(old);
    assert_non_null(fgets(old_text, sizeof(old_text), old));
    assert_string_equal(old_text, "old");
    fclose(old);
}

static void symbolic_link_stays_a_link(void **state)
{
    char why[EP_WHY_MAX] = "", real[500];
    struct stat st;
    FILE *f;

    (void)state;
    snprintf(real, sizeof(real), "%s/real", dir);
    f = fopen(real, "w");
    assert_non_null(f);
    fclose(f);
    unlink(path);
    assert_int_equal(symlink("real", path), 0);
    assert_int_equal(ep_stats_write(path, &sample, why), 0);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(slurp(real)[0], '{');
    unlink(real);
}

/* Renaming a file onto a device would destroy the device, and the reader of a
 * pipe would wait for ever. */
static void pipe_is_written_to_and_stays(void **state)
{
    char why[EP_WHY_MAX] = "", name[32], text[2048] = "";
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    snprintf(name, sizeof(name), "/dev/fd/%d", fds[1]);
    assert_int_equal(ep_stats_write(name, &sample, why), 0);
    close(fds[1]);
    assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
    close(fds[0]);
    assert_int_equal(text[0], '{');
    assert_non_null(strstr(text, "}\n"));
}

static void missing_folder_is_told_in_words(void **state)
{
    char why[EP_WHY_MAX] = "", name[500];

    (void)state;
    snprintf(name, sizeof(name), "%s/no/such", dir);
    assert_int_equal(ep_stats_write(name, &sample, why), OV_ESYS);
    assert_non_null(strstr(why, name));
    assert_non_null(strstr(why, "No such file or directory"));
}

/* A limit on file sizes acts as a full disk: the write fails half-way. */
static void failed_write_leaves_the_old_report_alone(void **state)
{
    char why[EP_WHY_MAX] = "";
    struct rlimit limit, small;
    FILE *old = fopen(path, "w");
    int rc;

    (void)state;
    assert_non_null(old);
    fputs("old", old);
    fclose(old);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 16;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    rc = ep_stats_write(path, &sample, why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(rc, OV_ESYS);
    assert_non_null(strstr(why, "cannot write the report to "));
    assert_non_null(strstr(why, "File too large"));
    assert_string_equal(slurp(path), "old");
    assert_int_equal(files_in_dir(), 1);
}

static void folder_as_target_leaves_nothing_behind(void **state)
{
    char why[EP_WHY_MAX] = "";
    unsigned before;

    (void)state;
    before = files_in_dir();
    assert_int_equal(ep_stats_write(dir, &sample, why), OV_ESYS);
    assert_non_null(strstr(why, "directory"));
    assert_int_equal(files_in_dir(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_is_this_text),
        cmocka_unit_test(edges_of_the_numbers_stay_json),
        cmocka_unit_test(old_report_is_replaced_not_rewritten),
        cmocka_unit_test(failed_write_leaves_the_old_report_alone),
        cmocka_unit_test(symbolic_link_stays_a_link),
        cmocka_unit_test(pipe_is_written_to_and_stays),
        cmocka_unit_test(missing_folder_is_told_in_words),
        cmocka_unit_test(folder_as_target_leaves_nothing_behind),
    };

    return cmocka_run_group_tests_name("stats_json", tests, enter, leave);
}
