/* Messages at a session's door: what is said is heard. */
#include "job/door.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"
#include "tests/unit/document.h"

static const struct {
    struct job_door said;
    size_t len_bytes;
    uint8_t golden[16];
    size_t least_bytes; /* whole, too, from so many on: the text is shorter */
} cases[] = {
    {{.kind = JOB_DOOR_HELLO, .version = 0x01020304, .text = "0.1"},
     8,
     {1, 4, 3, 2, 1, '0', '.', '1'},
     6},
    {{.kind = JOB_DOOR_WELCOME, .is_dvm = true, .text = "ab"},
     4,
     {2, 1, 'a', 'b'},
     3},
    {{.kind = JOB_DOOR_WELCOME, .has_no_tools = true, .text = "c"},
     3,
     {2, 2, 'c'},
     3},
    {{.kind = JOB_DOOR_REFUSED, .text = "no"}, 3, {3, 'n', 'o'}, 2},
    {{.kind = JOB_DOOR_STOP}, 1, {4}, 1},
    {{.kind = JOB_DOOR_ADDRESS}, 1, {5}, 1},
    {{.kind = JOB_DOOR_TOOLS, .text = "a;b"}, 4, {6, 'a', ';', 'b'}, 2},
};

static void messages_are_these_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t mem[JOB_DOOR_BYTES_MAX];
        struct ov_wr wr = ov_wr_init(mem, sizeof(mem));
        struct job_door heard;

        job_door_encode(&wr, &cases[i].said);
        assert_false(wr.bad);
        assert_int_equal(wr.at - mem, cases[i].len_bytes);
        assert_memory_equal(mem, cases[i].golden, cases[i].len_bytes);
        assert_int_equal(
            job_door_decode(ov_rd_init(mem, cases[i].len_bytes), &heard), 0);
        assert_memory_equal(&heard, &cases[i].said, sizeof(heard));
        for (size_t len = 0; len < cases[i].len_bytes; len++)
            assert_int_equal(job_door_decode(ov_rd_init(mem, len), &heard),
                             len >= cases[i].least_bytes ? 0 : OV_EPROTO);
    }
}

static void what_is_no_message_is_refused(void **state)
{
    static const uint8_t none[] = {0}, high[] = {JOB_DOOR_KINDS},
                         more[] = {JOB_DOOR_STOP, 0},
                         flag[] = {JOB_DOOR_WELCOME, 4, 'a'};
    static uint8_t longer[JOB_DOOR_TEXT_MAX + 1] = {JOB_DOOR_REFUSED};
    struct job_door heard;

    (void)state;
    memset(longer + 1, 'x', sizeof(longer) - 1);
    assert_int_equal(job_door_decode(ov_rd_init(none, 1), &heard), OV_EPROTO);
    assert_int_equal(job_door_decode(ov_rd_init(high, 1), &heard), OV_EPROTO);
    assert_int_equal(job_door_decode(ov_rd_init(more, 2), &heard), OV_EPROTO);
    assert_int_equal(job_door_decode(ov_rd_init(flag, 3), &heard), OV_EPROTO);
    assert_int_equal(
        job_door_decode(ov_rd_init(longer, sizeof(longer)), &heard), OV_EPROTO);
    assert_int_equal(
        job_door_decode(ov_rd_init(longer, sizeof(longer) - 1), &heard), 0);
}

static void the_document_has_the_rows(void **state)
{
    static const char *const names[] = {"HELLO", "WELCOME", "REFUSED",
                                        "STOP",  "ADDRESS", "TOOLS"};

    (void)state;
    for (unsigned kind = JOB_DOOR_HELLO; kind < JOB_DOOR_KINDS; kind++)
        document_has_message(kind, names[kind - JOB_DOOR_HELLO],
                             job_door_rows(kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_these_bytes),
        cmocka_unit_test(what_is_no_message_is_refused),
        cmocka_unit_test(the_document_has_the_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
