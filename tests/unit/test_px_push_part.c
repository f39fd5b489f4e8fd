/* The part of a push that is for one job. */
#include "pmix_api/push_part.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pmix_api/wire_push.h"

static uint8_t mem[PX_PUSH_BYTES_MAX];

static uint32_t make(uint16_t flags, const struct topo_range *ranges,
                     uint16_t count, const char *text)
{
    struct ov_wr wr = ov_wr_init(mem, sizeof(mem));

    ov_push_encode(&wr, flags, ranges, count);
    ov_wr_bytes(&wr, text, strlen(text));
    return (uint32_t)(wr.at - mem);
}

static struct ov_push decoded(const uint8_t *at, uint32_t len_bytes)
{
    struct ov_push push;

    assert_int_equal(ov_push_decode(at, len_bytes, &push), 0);
    return push;
}

/* As "new:more:close:3-4,6-6=text". */
static const char *shown(const uint8_t *at, uint32_t len_bytes)
{
    static char text[4096];
    struct ov_push push = decoded(at, len_bytes);
    size_t len = 0;

    len += (size_t)snprintf(text, sizeof(text), "%s%s%s",
                            (push.flags & OV_PUSH_NEW) != 0 ? "new:" : "",
                            (push.flags & OV_PUSH_MORE) != 0 ? "more:" : "",
                            (push.flags & OV_PUSH_CLOSE) != 0 ? "close:" : "");
    for (unsigned i = 0; i < push.ranges; i++) {
        struct topo_range range = ov_push_range(&push);

        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u-%u",
                                i > 0 ? "," : "", range.first, range.last);
    }
    snprintf(text + len, sizeof(text) - len, "=%.*s", (int)push.len_bytes,
             (const char *)at + push.off_bytes);
    return text;
}

static struct job {
    struct topo_range processes;
    bool has_set;
} jobs[2];

static void begin(void)
{
    jobs[0] = (struct job){.processes = {0, 9}};
    jobs[1] = (struct job){.processes = {10, 19}};
}

/* The parts of both jobs: "" for none. */
static void parts(uint16_t flags, const struct topo_range *ranges,
                  uint16_t count, const char *text, const char *first,
                  const char *second)
{
    const char *want[] = {first, second};
    uint32_t len_bytes = make(flags, ranges, count, text);

    for (unsigned i = 0; i < 2; i++) {
        uint8_t out[PX_PUSH_BYTES_MAX];
        uint32_t part = px_push_part(mem, decoded(mem, len_bytes),
                                     jobs[i].processes, &jobs[i].has_set, out);

        assert_true(part <= len_bytes);
        assert_string_equal(part > 0 ? shown(out, part) : "", want[i]);
    }
}

static void each_job_has_its_part(void **state)
{
    (void)state;
    begin();
    parts(OV_PUSH_NEW, (struct topo_range[]){{3, 3}, {5, 12}, {15, 16}}, 3, "x",
          "new:3-3,5-9=x", "new:10-12,15-16=x");
    parts(OV_PUSH_CLOSE, NULL, 0, "y", "close:=y", "close:=y");
    parts(OV_PUSH_NEW, (struct topo_range[]){{19, 40}}, 1, "z", "",
          "new:19-19=z");
    parts(0, NULL, 0, "z", "", "=z");
    parts(OV_PUSH_NEW, (struct topo_range[]){{30, 40}}, 1, "z", "", "");
    parts(0, NULL, 0, "z", "", "");
}

/* For a job whose processes come later in it, it begins there. */
static void a_set_in_several_messages(void **state)
{
    (void)state;
    begin();
    parts(OV_PUSH_NEW | OV_PUSH_MORE, (struct topo_range[]){{1, 2}}, 1, "",
          "new:more:1-2=", "");
    parts(OV_PUSH_MORE, (struct topo_range[]){{11, 11}}, 1, "",
          "more:=", "new:more:11-11=");
    parts(0, (struct topo_range[]){{13, 14}}, 1, "x", "=x", "13-14=x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_job_has_its_part),
        cmocka_unit_test(a_set_in_several_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
