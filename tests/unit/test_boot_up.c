/* The lines that a daemon sends upward: written, read back, refused. */
#include "endpoints/boot/boot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "endpoints/boot/boot_lines.h"
#include "overlay/base/err.h"
#include "tests/unit/document.h"

#define NONCE "404142434445464748494a4b4c4d4e4f"

static void lines_upward_are_this_text(void **state)
{
    static const struct ep_boot_up words[] = {
        {.kind = EP_BOOT_ERROR, .text = "no free port in 1-2\nreally"},
        {.kind = EP_BOOT_NOTE, .peer.node = 7},
        {.kind = EP_BOOT_START,
         .peer.node = 9,
         .time_ms = 500,
         .text = "no key"},
    };
    struct ep_boot_up peer = {.kind = EP_BOOT_READY,
                              .peer = {.node = 5, .address = "10.0.0.1:4000"}};
    struct text_buf text = {0};
    char want[512];

    (void)state;
    memset(peer.peer.nonce, 0xab, sizeof(peer.peer.nonce));
    snprintf(peer.version, sizeof(peer.version), "%s", ep_boot_version());
    ep_boot_up_encode(&peer, &text);
    peer.kind = EP_BOOT_PEER;
    ep_boot_up_encode(&peer, &text);
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        ep_boot_up_encode(&words[i], &text);
    snprintf(want, sizeof(want),
             "\nxylemd-ready %s 5 10.0.0.1:4000 "
             "abababababababababababababababab\n"
             "\nxylemd-peer 5 10.0.0.1:4000 "
             "abababababababababababababababab\n"
             "\nxylemd-error no%%20free%%20port%%20in%%201-2%%0Areally\n"
             "\nxylemd-note 7 %%\n"
             "\nxylemd-start 9 500 no%%20key\n",
             ep_boot_version());
    assert_string_equal(text.at, want);
    text_buf_fini(&text);
}

static int up(const char *line, struct ep_boot_up *out)
{
    static char copy[8192];

    snprintf(copy, sizeof(copy), "%s", line);
    return ep_boot_up_decode(copy, strlen(copy), out);
}

static void lines_upward_are_read_back(void **state)
{
    struct ep_boot_up got;
    char line[512];

    (void)state;
    snprintf(line, sizeof(line), "xylemd-ready %s 5 a:1 " NONCE,
             ep_boot_version());
    assert_int_equal(up(line, &got), 0);
    assert_int_equal(got.kind, EP_BOOT_READY);
    assert_int_equal(got.peer.node, 5);
    assert_string_equal(got.peer.address, "a:1");
    assert_int_equal(got.peer.nonce[0], 0x40);
    assert_string_equal(got.version, ep_boot_version());
    assert_int_equal(up("xylemd-error a%20b", &got), 0);
    assert_int_equal(got.kind, EP_BOOT_ERROR);
    assert_string_equal(got.text, "a b");
    assert_int_equal(up("xylemd-note 8 %", &got), 0);
    assert_int_equal(got.kind, EP_BOOT_NOTE);
    assert_int_equal(got.peer.node, 8);
    assert_string_equal(got.text, "");
    assert_int_equal(up("xylemd-peer 5 a:1 " NONCE, &got), 0);
    assert_int_equal(got.kind, EP_BOOT_PEER);
    assert_int_equal(got.peer.node, 5);
    assert_string_equal(got.peer.address, "a:1");
    assert_int_equal(up("xylemd-start 9 500 no%20key", &got), 0);
    assert_int_equal(got.kind, EP_BOOT_START);
    assert_int_equal(got.peer.node, 9);
    assert_int_equal(got.time_ms, 500);
    assert_string_equal(got.text, "no key");
}

/* A ready line of another version is reported with its version, whatever
 * follows in it. */
static void ready_of_another_version_is_still_read(void **state)
{
    struct ep_boot_up got;

    (void)state;
    assert_int_equal(up("xylemd-ready 99 what ever  this is", &got), 0);
    assert_int_equal(got.kind, EP_BOOT_READY);
    assert_string_equal(got.version, "99");
}

static void other_lines_upward_are_none_of_ours(void **state)
{
    static const char *const others[] = {"",
                                         "hello",
                                         "xylemd-readyy 1",
                                         "xylemd-",
                                         " xylemd-ready 1",
                                         "xylemd-read",
                                         "Xylemd-ready 1"};
    struct ep_boot_up got;
    char line[] = "xylemd-up a";

    (void)state;
    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_int_equal(up(others[i], &got), OV_ENOENT);
    assert_int_equal(ep_boot_up_decode(line, strlen(line), &got), OV_ENOENT);
    assert_string_equal(line, "xylemd-up a");
}

static void ill_formed_lines_upward_are_refused(void **state)
{
    static const char *const bad[] = {"xylemd-ready",
                                      "xylemd-ready ",
                                      "xylemd-ready %",
                                      "xylemd-ready a%0Ab",
                                      "xylemd-error",
                                      "xylemd-error a b",
                                      "xylemd-note",
                                      "xylemd-note 1",
                                      "xylemd-note a",
                                      "xylemd-note a b",
                                      "xylemd-note 4294967295 a",
                                      "xylemd-note 1 a\r",
                                      "xylemd-note 1 caf\xc3\xa9",
                                      "xylemd-peer 1 a:1",
                                      "xylemd-start 1 a",
                                      "xylemd-start 1 0 a",
                                      "xylemd-start 1 4294967296 a",
                                      "xylemd-start 1 5 a b"};
    static const char *const peers[] = {"",
                                        " 1",
                                        " 1 a:1",
                                        " 1 a:1 00",
                                        " x a:1 " NONCE,
                                        " 1 a:1 " NONCE " x",
                                        " 4294967295 a:1 " NONCE};
    struct ep_boot_up got;
    char line[128];

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (up(bad[i], &got) != OV_EPROTO)
            fail_msg("%s", bad[i]);
    }
    for (unsigned i = 0; i < sizeof(peers) / sizeof(peers[0]); i++) {
        snprintf(line, sizeof(line), "xylemd-ready %s%s", ep_boot_version(),
                 peers[i]);
        if (up(line, &got) != OV_EPROTO)
            fail_msg("%s", line);
    }
}

/* Texts have the greatest allowed length, and then one byte more. */
static void longer_words_upward_are_refused(void **state)
{
    struct text_buf text = {0};
    struct ep_boot_up said = {.kind = EP_BOOT_ERROR}, got;

    (void)state;
    memset(said.text, 'w', sizeof(said.text) - 1);
    ep_boot_up_encode(&said, &text);
    assert_int_equal(text.len_bytes,
                     strlen("\nxylemd-error \n") + EP_BOOT_TEXT_MAX - 1);
    /* the line with its newline */
    assert_int_equal(up(text.at + 1, &got), OV_EPROTO);
    text.at[text.len_bytes - 1] = '\0';
    assert_int_equal(up(text.at + 1, &got), 0);
    assert_string_equal(got.text, said.text);
    text.at[text.len_bytes - 1] = 'w';
    assert_int_equal(up(text.at + 1, &got), OV_EPROTO);
    text_buf_fini(&text);
}

static void the_document_has_the_lines(void **state)
{
    (void)state;
    document_has_lines(ep_boot_lines);
    document_has_lines(ep_boot_peer_lines);
    document_has_lines(ep_boot_up_lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_upward_are_this_text),
        cmocka_unit_test(lines_upward_are_read_back),
        cmocka_unit_test(ready_of_another_version_is_still_read),
        cmocka_unit_test(other_lines_upward_are_none_of_ours),
        cmocka_unit_test(ill_formed_lines_upward_are_refused),
        cmocka_unit_test(longer_words_upward_are_refused),
        cmocka_unit_test(the_document_has_the_lines),
    };

    return cmocka_run_group_tests_name("boot_up", tests, NULL, NULL);
}
