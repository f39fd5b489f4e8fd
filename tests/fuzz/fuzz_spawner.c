/* Messages between the spawner and its owner: a body that decodes encodes to
 * the same bytes, if its kind has only one encoding, and no memory is left. The
 * first byte selects the message. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "endpoints/spawn/msg.h"
#include "overlay/base/err.h"

static void check_rc(int rc)
{
    FUZZ_CHECK(rc == 0 || rc == OV_EPROTO || rc == OV_ENOMEM);
}

/* Checks that all strings are there, each with its NUL, with a NULL after the
 * last one. */
static size_t check_strings(const char *const *strings)
{
    size_t bytes = 0;

    for (; *strings != NULL; strings++)
        bytes += strlen(*strings) + 1;
    return bytes;
}

static void check_again(struct ep_wire_out *out, const struct ep_wire_in *in)
{
    FUZZ_CHECK(out != NULL && out->len_bytes == in->len_bytes);
    FUZZ_CHECK(memcmp(out->body, in->body, in->len_bytes) == 0);
    ep_wire_out_free(out);
}

static void check_job(const struct ep_wire_in *in)
{
    struct ep_held_job job;
    int err, rc = ep_spawn_job_decode(in, &job);

    check_rc(rc);
    if (rc != 0) {
        FUZZ_CHECK(job.body == NULL && job.what.program.argv == NULL);
        return;
    }
    FUZZ_CHECK(job.what.program.argv[0] != NULL);
    FUZZ_CHECK(job.what.program.cwd == NULL || job.what.program.cwd[0] != '\0');
    check_again(ep_spawn_job_encode(job.job, &job.what, &err), in);
    ep_spawn_job_fini(&job);
}

static void check_start(const struct ep_wire_in *in)
{
    struct ep_start start;
    int rc = ep_start_decode(in, &start);

    check_rc(rc);
    if (rc != 0) {
        FUZZ_CHECK(start.env == NULL);
        return;
    }
    FUZZ_CHECK(start.mask < 1u << EP_WIRE_FDS_MAX);
    FUZZ_CHECK(strlen(start.cpus) + check_strings(start.env) < in->len_bytes);
    ep_start_fini(&start);
}

static void check_signal(const struct ep_wire_in *in)
{
    struct ep_signal sig;
    int err, rc = ep_signal_decode(in, &sig);

    check_rc(rc);
    if (rc == 0)
        check_again(ep_signal_encode(&sig, &err), in);
}

static void check_report(const struct ep_wire_in *in)
{
    struct ep_report report;
    int err, rc = ep_report_decode(in, &report);

    check_rc(rc);
    if (rc == 0)
        check_again(ep_report_encode(EP_SPAWN_EXIT, &report, &err), in);
}

int LLVMFuzzerTestOneInput(const uint8_t *mem, size_t len_bytes)
{
    static void (*const checks[])(const struct ep_wire_in *in) = {
        check_job, check_start, check_signal, check_report};
    struct ep_wire_in in = {0};

    if (len_bytes < 1)
        return 0;
    in.body = mem + 1;
    in.len_bytes = (uint32_t)len_bytes - 1;
    checks[mem[0] % 4](&in);
    return 0;
}
