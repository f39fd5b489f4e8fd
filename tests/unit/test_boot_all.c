/* The start-up text that is the same for all daemons: each daemon finds its
 * place by the name of its host. */
#include "endpoints/boot/boot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

#define KEY  "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define HEAD "session 1122334455667788\nkey " KEY "\ntree 3 3\nlauncher slurm\n"

static struct ep_boot_config taken;

static void on_go(void *arg, struct ep_boot_config *config)
{
    (void)arg;
    taken = *config;
    memset(config, 0, sizeof(*config));
}

static void on_peer(void *arg, const struct ep_boot_peer *peer)
{
    (void)arg;
    (void)peer;
}

static const struct ep_boot_down_events events = {on_go, on_peer};

/* Reads the text as the daemon of that host does. Returns the words of the
 * error; "" for none. */
static const char *read_as(const char *host, const char *text, size_t len)
{
    static struct ep_boot_reader rd;

    ep_boot_config_fini(&taken);
    ep_boot_reader_init(&rd, &events, NULL, "xylemd");
    rd.host = host;
    ep_boot_reader_feed(&rd, text, len);
    ep_boot_reader_fini(&rd);
    return rd.why;
}

static void build(struct ep_boot_config *config, const char *const *names,
                  uint32_t count)
{
    *config = (struct ep_boot_config){
        .tree = {.nodes = count + 1, .arity = 2},
        .launcher = EP_LAUNCHER_SLURM,
    };
    assert_int_equal(ep_auth_init(&config->auth, 1, KEY), 0);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(ep_boot_add_host(config, i + 1, names[i]), 0);
    assert_int_equal(ep_boot_add_gate(config, "10.0.0.1:4000"), 0);
    assert_int_equal(ep_boot_add_gate(config, "[fd00::1]:4000"), 0);
}

/* Nodes are in the launcher's order, not in the order of the names. */
static void same_text_gives_each_host_its_own_node(void **state)
{
    static const char *const names[] = {"n2", "n1", "login"};
    struct ep_boot_config config;
    struct text_buf text = {0};
    char why[EP_BOOT_WHY_MAX];

    (void)state;
    build(&config, names, 3);
    assert_int_equal(ep_boot_encode(&config, &text, why), 0);
    for (uint32_t i = 0; i < 3; i++) {
        assert_string_equal(read_as(names[i], text.at, text.len_bytes), "");
        assert_int_equal(taken.hosted_count, 1);
        assert_int_equal(taken.hosted[0].first, i + 1);
        assert_int_equal(taken.hosted[0].last, i + 1);
        assert_string_equal(ep_boot_host(&taken, 1), "n2");
        assert_int_equal(taken.gates.count, 2);
        assert_string_equal(taken.gates.at[1], "[fd00::1]:4000");
    }
    assert_non_null(strstr(read_as("n3", text.at, text.len_bytes),
                           "this host is called \"n3\", which is none of"));
    text_buf_fini(&text);
    ep_boot_config_fini(&config);
}

static void the_configuration_is_this_text(void **state)
{
    static const char *const names[] = {"n2", "n1", "login"};
    static const uint32_t parents[] = {TOPO_NONE, 0, 0, 1};
    static const char golden[] = "session 0000000000000001\n"
                                 "key " KEY "\n"
                                 "tree 4 2\n"
                                 "children 2 1\n"
                                 "children 1 1\n"
                                 "launcher slurm\n"
                                 "ports 1 1\n"
                                 "env FI_PROVIDER=tcp\n"
                                 "env FI_LOG_LEVEL=%20\n"
                                 "param heartbeat_ms 1\n"
                                 "hosts n[2,1],login\n"
                                 "gate 10.0.0.1:4000\n"
                                 "gate [fd00::1]:4000\n"
                                 "go\n";
    struct ep_boot_config config;
    struct topo_tree tree;
    struct text_buf text = {0};
    char why[EP_BOOT_WHY_MAX];

    (void)state;
    build(&config, names, 3);
    assert_int_equal(topo_tree_init(&tree, parents, 4), 0);
    assert_int_equal(ep_boot_set_tree(&config, &tree), 0);
    config.port_first = config.port_last = 1;
    config.heartbeat_ms = 1;
    assert_int_equal(ep_boot_add_env(&config, "FI_PROVIDER=tcp"), 0);
    assert_int_equal(ep_boot_add_env(&config, "FI_LOG_LEVEL= "), 0);
    assert_int_equal(ep_boot_encode(&config, &text, why), 0);
    assert_string_equal(strchr(text.at, '\n') + 1, golden);
    text_buf_fini(&text);
    ep_boot_config_fini(&config);
}

/* Ten thousand hosts fit into a line of a few bytes. */
static void many_hosts_are_short(void **state)
{
    enum { COUNT = 10000 };
    static char names[COUNT][16];
    static const char *list[COUNT];
    struct ep_boot_config config;
    struct text_buf text = {0};
    char why[EP_BOOT_WHY_MAX];

    (void)state;
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof(names[i]), "node%05u", i);
        list[i] = names[i];
    }
    build(&config, list, COUNT);
    assert_int_equal(ep_boot_encode(&config, &text, why), 0);
    assert_true(text.len_bytes < 1000);
    assert_string_equal(read_as("node09999", text.at, text.len_bytes), "");
    assert_int_equal(taken.hosted[0].first, COUNT);
    text_buf_fini(&text);
    ep_boot_config_fini(&config);
}

static const struct {
    const char *text, *words;
} bad[] = {
    {HEAD "hosts a,b\ngate 1.2.3.4:5\ngo\n", "this host is called \"\""},
    {HEAD "hosts a,b\ngo\n", "no address to connect to, or no hosts"},
    {HEAD "gate 1.2.3.4:5\ngo\n", "no address to connect to, or no hosts"},
    {HEAD "hosts a,b,c\n", "expected \"hosts LIST"},
    {HEAD "hosts a[\n", "expected \"hosts LIST"},
    {HEAD "gate\n", "expected \"gate ADDRESS\""},
};

static void bad_text_is_refused_in_words(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[1024];
        int len = snprintf(text, sizeof(text), "xylem-boot %s\n%s",
                           ep_boot_version(), bad[i].text);

        if (strstr(read_as(NULL, text, (size_t)len), bad[i].words) == NULL)
            fail_msg("%s -> %s", text, read_as(NULL, text, (size_t)len));
    }
    ep_boot_config_fini(&taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_text_gives_each_host_its_own_node),
        cmocka_unit_test(the_configuration_is_this_text),
        cmocka_unit_test(many_hosts_are_short),
        cmocka_unit_test(bad_text_is_refused_in_words),
    };

    return cmocka_run_group_tests_name("boot for all", tests, NULL, NULL);
}
