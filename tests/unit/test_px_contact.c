/* The text by which tools find a server, and the files that contain it. */
#include "pmix_api/contact.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "overlay/base/err.h"

/* The text as libpmix 4.2 writes it, and as a newer one might. */
#define REST  "\n4.2.2rc2\n29316\n0:0\nSat Nov 28 02:26:48 2026\n\n"
#define NEWER "\n7.0\n1\n0:0;36669\nmore: 127.0.0.1:36669"

/* Checks that the text becomes the other one with port 7. */
static void try_one(const char *text, const char *address, uint16_t port,
                    const char *moved)
{
    struct px_contact contact;
    char out[PX_CONTACT_BYTES_MAX];
    size_t len = 0;

    assert_int_equal(px_contact_parse(text, strlen(text), &contact), 0);
    assert_string_equal(contact.address, address);
    assert_int_equal(contact.port, port);
    assert_int_equal(px_contact_move(text, strlen(text),
                                     &(struct px_contact_move){.port = 7}, out,
                                     &len),
                     0);
    assert_int_equal(len, strlen(moved));
    assert_memory_equal(out, moved, len);
}

static void address_is_read_and_port_replaced(void **state)
{
    (void)state;
    try_one("xylem-3c3d-server.0;tcp4://127.0.0.1:36669" REST, "127.0.0.1",
            36669, "xylem-3c3d-server.0;tcp4://127.0.0.1:7" REST);
    try_one("a.b.4294967295;tcp4://10.0.0.1:1" NEWER, "10.0.0.1", 1,
            "a.b.4294967295;tcp4://10.0.0.1:7" NEWER);
    try_one("x.0;tcp4://127.0.0.1:65535", "127.0.0.1", 65535,
            "x.0;tcp4://127.0.0.1:7");
    try_one("x.0;tcp6://::1:80" REST, "::1", 80, "x.0;tcp6://::1:7" REST);
    try_one("x.0;tcp6://[fe80::1:2]:8080" REST, "fe80::1:2", 8080,
            "x.0;tcp6://[fe80::1:2]:7" REST);
}

static void its_process_is_replaced(void **state)
{
    static const struct {
        const char *text, *moved;
    } cases[] = {
        {"x.0;tcp4://1.2.3.4:5" REST,
         "x.0;tcp4://1.2.3.4:7\n4.2.2rc2\n81\n0:0\nSat Nov 28 02:26:48 "
         "2026\n\n"},
        {"x.0;tcp4://1.2.3.4:5\nv\n1\n", "x.0;tcp4://1.2.3.4:7\nv\n81\n"},
        {"x.0;tcp4://1.2.3.4:5\nv\nno\n3\n",
         "x.0;tcp4://1.2.3.4:7\nv\nno\n3\n"},
        {"x.0;tcp4://1.2.3.4:5\nv\n1", "x.0;tcp4://1.2.3.4:7\nv\n1"},
        {"x.0;tcp4://1.2.3.4:5\n6\n", "x.0;tcp4://1.2.3.4:7\n6\n"},
        {"x.0;tcp4://1.2.3.4:5", "x.0;tcp4://1.2.3.4:7"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct px_contact_move to = {.port = 7, .pid = 81};
        char out[PX_CONTACT_BYTES_MAX];
        size_t len = 0;

        assert_int_equal(px_contact_move(cases[i].text, strlen(cases[i].text),
                                         &to, out, &len),
                         0);
        assert_int_equal(len, strlen(cases[i].moved));
        assert_memory_equal(out, cases[i].moved, len);
    }
}

static void what_is_no_such_text_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "\n",
        "x.0",
        "x.0;",
        "x.0;tcp4://",
        "x.0;tcp4://127.0.0.1",
        "x.0;tcp4://127.0.0.1:",
        "x.0;tcp4://127.0.0.1:0",
        "x.0;tcp4://127.0.0.1:65536",
        "x.0;tcp4://127.0.0.1:4294967297",
        "x.0;tcp4://127.0.0.1:+1",
        "x.0;tcp4://127.0.0.1: 1",
        "x.0;tcp4://127.0.0.1:1 ",
        "x.0;tcp4://127.0.0.1\n:1",
        "x.0;tcp4://[127.0.0.1]:1",
        "x.0;tcp4://::1:1",
        "x.0;tcp4://:1",
        "x.0;tcp4://host:1",
        "x.0;tcp6://127.0.0.1:1",
        "x.0;tcp6://[::1:1",
        "x.0;tcp6://[]:1",
        "x.0;tcp6://[::1]",
        "x.0;tcp6://0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:1",
        "x.0;tcp://127.0.0.1:1",
        "x.0;usock:/tmp/x:1",
        "x;tcp4://127.0.0.1:1",
        "x.;tcp4://127.0.0.1:1",
        "x.y;tcp4://127.0.0.1:1",
        ".0;tcp4://127.0.0.1:1",
        "\nx.0;tcp4://127.0.0.1:1",
    };
    struct px_contact contact;
    char out[PX_CONTACT_BYTES_MAX];
    size_t len;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(px_contact_parse(texts[i], strlen(texts[i]), &contact),
                         OV_EPROTO);
        assert_int_equal(px_contact_move(texts[i], strlen(texts[i]),
                                         &(struct px_contact_move){.port = 1},
                                         out, &len),
                         OV_EPROTO);
    }
    assert_int_equal(
        px_contact_parse("x.0;tcp4://127.0.0.1:1\n\0", 24, &contact),
        OV_EPROTO);
}

/* A text of the greatest length, which has no room for a longer port. */
static void lengths_are_bounded(void **state)
{
    static const char first[] = "x.0;tcp4://127.0.0.1:1\n";
    char text[PX_CONTACT_BYTES_MAX + 1], out[PX_CONTACT_BYTES_MAX];
    struct px_contact contact;
    size_t len = 0;

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text, first, strlen(first));
    assert_int_equal(px_contact_parse(text, sizeof(text), &contact), OV_EPROTO);
    assert_int_equal(px_contact_parse(text, PX_CONTACT_BYTES_MAX, &contact), 0);
    assert_int_equal(px_contact_move(text, PX_CONTACT_BYTES_MAX,
                                     &(struct px_contact_move){.port = 10}, out,
                                     &len),
                     OV_EFULL);
    assert_int_equal(px_contact_move(text, PX_CONTACT_BYTES_MAX,
                                     &(struct px_contact_move){.port = 9}, out,
                                     &len),
                     0);
    assert_int_equal(len, PX_CONTACT_BYTES_MAX);
}

/* --- files */

static const char text[] = "s-server.0;tcp4://127.0.0.1:1" REST;

static unsigned count_files(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    unsigned count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL)
        count +=
            strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return count;
}

static void check_file(const char *folder, const char *name)
{
    char path[512], mem[sizeof(text) + 1];
    struct stat st;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0640);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(mem, 1, sizeof(mem), file), strlen(text));
    assert_memory_equal(mem, text, strlen(text));
    fclose(file);
}

static void make_folder(char *out, size_t size)
{
    const char *top = getenv("TMPDIR");

    snprintf(out, size, "%s/contact-XXXXXX", top != NULL ? top : "/tmp");
    assert_non_null(mkdtemp(out));
}

/* The mode does not depend on the user's umask. */
static void all_names_have_the_text(void **state)
{
    static const char *const found[] = {"pmix.vm.tool", "pmix.vm.tool.11",
                                        "pmix.vm.tool.s-server",
                                        "pmix.vm.tool.12", "pmix.vm.tool.s"};
    char folder[256];
    const struct px_contact_names names = {.folder = folder,
                                           .host = "vm",
                                           .server = "s-server",
                                           .server_pid = 11,
                                           .job = "s",
                                           .launcher_pid = 12};
    mode_t was = umask(077);

    (void)state;
    make_folder(folder, sizeof(folder));
    assert_int_equal(px_contact_put(&names, text, strlen(text)), 0);
    assert_int_equal(count_files(folder), 5);
    for (size_t i = 0; i < 5; i++)
        check_file(folder, found[i]);
    px_contact_remove(&names);
    px_contact_remove(&names);
    assert_int_equal(rmdir(folder), 0);
    umask(was);
}

static void names_that_are_equal_are_one(void **state)
{
    char folder[256];
    const struct px_contact_names names = {.folder = folder,
                                           .host = "vm",
                                           .server = "s",
                                           .server_pid = 11,
                                           .job = "s",
                                           .launcher_pid = 11};

    (void)state;
    make_folder(folder, sizeof(folder));
    assert_int_equal(px_contact_put(&names, text, strlen(text)), 0);
    assert_int_equal(count_files(folder), 3);
    check_file(folder, "pmix.vm.tool.11");
    check_file(folder, "pmix.vm.tool.s");
    px_contact_remove(&names);
    assert_int_equal(rmdir(folder), 0);
}

/* One of the names is taken by another file, each name in turn: that file
 * stays, and no file of ours is made. */
static void it_is_all_or_nothing(void **state)
{
    static const char *const taken[] = {"pmix.vm.tool", "pmix.vm.tool.11",
                                        "pmix.vm.tool.s-server",
                                        "pmix.vm.tool.12", "pmix.vm.tool.s"};
    char folder[256], path[512];
    const struct px_contact_names names = {.folder = folder,
                                           .host = "vm",
                                           .server = "s-server",
                                           .server_pid = 11,
                                           .job = "s",
                                           .launcher_pid = 12};

    (void)state;
    make_folder(folder, sizeof(folder));
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, taken[i]);
        assert_int_equal(mkdir(path, 0700), 0);
        assert_int_equal(px_contact_put(&names, text, strlen(text)), OV_ESYS);
        assert_int_equal(errno, EEXIST);
        assert_int_equal(count_files(folder), 1);
        assert_int_equal(rmdir(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(px_contact_put(&names, text, strlen(text)), OV_ESYS);
    assert_int_equal(errno, ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(address_is_read_and_port_replaced),
        cmocka_unit_test(its_process_is_replaced),
        cmocka_unit_test(what_is_no_such_text_is_refused),
        cmocka_unit_test(lengths_are_bounded),
        cmocka_unit_test(all_names_have_the_text),
        cmocka_unit_test(names_that_are_equal_are_one),
        cmocka_unit_test(it_is_all_or_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
