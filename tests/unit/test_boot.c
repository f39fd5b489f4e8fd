/* The start-up text: what daemons are sent and send, and texts that must be
 * refused. */
#include "endpoints/boot/boot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "overlay/base/err.h"

#define KEY   "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define NONCE "404142434445464748494a4b4c4d4e4f"
#define NEEDED                                                                 \
    "session 1122334455667788\nkey " KEY "\ntree 10 3\nlauncher local\n"       \
    "hosted 1 1\n"
/* Everything that a reader has reported, as text. */
static char told[512];
static struct ep_boot_config taken;

static void on_go(void *arg, struct ep_boot_config *config)
{
    (void)arg;
    strcat(told, "go ");
    taken = *config;
    memset(config, 0, sizeof(*config));
}

static void on_peer(void *arg, const struct ep_boot_peer *peer)
{
    size_t len = strlen(told);

    (void)arg;
    snprintf(told + len, sizeof(told) - len, "peer(%u,%s,%02x) ", peer->node,
             peer->address, peer->nonce[15]);
}

static const struct ep_boot_down_events events = {on_go, on_peer};
static struct ep_boot_reader rd;

static int enter(void **state)
{
    (void)state;
    told[0] = '\0';
    ep_boot_reader_init(&rd, &events, NULL, "/opt/bin/xylemd");
    return 0;
}

static int leave(void **state)
{
    (void)state;
    ep_boot_reader_fini(&rd);
    ep_boot_config_fini(&taken);
    return 0;
}

static int feed(const char *text)
{
    return ep_boot_reader_feed(&rd, text, strlen(text));
}

/* Feeds a first line of our version. */
static int feed_first(void)
{
    char line[128];

    snprintf(line, sizeof(line), "xylem-boot %s\n", ep_boot_version());
    return feed(line);
}

/* Builds a configuration that has everything. */
static void build(struct ep_boot_config *config)
{
    *config = (struct ep_boot_config){
        .tree = {.nodes = 40, .arity = 3},
        .launcher = EP_LAUNCHER_SSH,
        .is_virtual = true,
        .no_tree_spawn = true,
        .verbose = true,
        .port_first = 4000,
        .port_last = 4100,
        .heartbeat_ms = 10000,
        .launch_timeout_ms = 60000,
        .frame_bytes = 65536,
        .down_window_frames = 16,
        .up_window_bytes = 262144,
        .nofile = 1024,
    };
    assert_int_equal(ep_auth_init(&config->auth, 0x1122334455667788, KEY), 0);
    assert_int_equal(job_set_string(&config->provider, "tcp"), 0);
    assert_int_equal(job_set_string(&config->interface, "eth0"), 0);
    assert_int_equal(job_set_string(&config->rsh, "ssh -o 'A=100% \xc3\xa4'"),
                     0);
    assert_int_equal(job_set_string(&config->xylemd, "/opt/my bin/xylemd"), 0);
    assert_int_equal(job_set_string(&config->home, "1f.pids:/a b"), 0);
    assert_int_equal(ep_boot_add_hosted(config, (struct topo_range){1, 1}), 0);
    assert_int_equal(ep_boot_add_hosted(config, (struct topo_range){7, 9}), 0);
    assert_int_equal(ep_boot_add_param(config, "linger_ms", 2000), 0);
    assert_int_equal(ep_boot_add_param(config, "big", UINT64_MAX), 0);
    assert_int_equal(ep_boot_add_host(config, 4, "n4"), 0);
    assert_int_equal(ep_boot_add_host(config, 13, "user@n13.example"), 0);
}

static const char golden[] = "session 1122334455667788\n"
                             "key " KEY "\n"
                             "tree 40 3\n"
                             "launcher ssh\n"
                             "hosted 1 1\n"
                             "hosted 7 9\n"
                             "virtual\n"
                             "no-tree-spawn\n"
                             "verbose\n"
                             "provider tcp\n"
                             "interface eth0\n"
                             "ports 4000 4100\n"
                             "rsh ssh%20-o%20'A=100%25%20%C3%A4'\n"
                             "xylemd /opt/my%20bin/xylemd\n"
                             "home 1f.pids:/a%20b\n"
                             "param heartbeat_ms 10000\n"
                             "param launch_timeout_ms 60000\n"
                             "param frame_bytes 65536\n"
                             "param down_window_frames 16\n"
                             "param up_window_bytes 262144\n"
                             "param nofile 1024\n"
                             "param linger_ms 2000\n"
                             "param big 18446744073709551615\n"
                             "host 4 n4\n"
                             "host 13 user@n13.example\n"
                             "go\n";

static void configuration_is_this_text(void **state)
{
    struct ep_boot_config config;
    struct text_buf text = {0};
    char why[EP_BOOT_WHY_MAX] = "", first[128];
    int len =
        snprintf(first, sizeof(first), "xylem-boot %s\n", ep_boot_version());

    (void)state;
    build(&config);
    assert_int_equal(ep_boot_encode(&config, &text, why), 0);
    assert_memory_equal(text.at, first, (size_t)len);
    assert_string_equal(text.at + len, golden);
    text_buf_fini(&text);
    ep_boot_config_fini(&config);
}

static void assert_same(const struct ep_boot_config *a,
                        const struct ep_boot_config *b)
{
    struct text_buf left = {0}, right = {0};
    char why[EP_BOOT_WHY_MAX];

    assert_int_equal(ep_boot_encode(a, &left, why), 0);
    assert_int_equal(ep_boot_encode(b, &right, why), 0);
    assert_string_equal(left.at, right.at);
    text_buf_fini(&left);
    text_buf_fini(&right);
}

static void configuration_survives_the_way(void **state)
{
    struct ep_boot_config config;
    struct text_buf text = {0};
    char why[EP_BOOT_WHY_MAX] = "";

    (void)state;
    build(&config);
    assert_int_equal(ep_boot_encode(&config, &text, why), 0);
    assert_int_equal(feed(text.at), 0);
    assert_string_equal(told, "go ");
    assert_same(&config, &taken);
    assert_true(taken.auth.session == 0x1122334455667788);
    assert_memory_equal(taken.auth.key, config.auth.key, EP_AUTH_KEY_BYTES);
    assert_int_equal(taken.tree.nodes, 40);
    assert_int_equal(taken.launcher, EP_LAUNCHER_SSH);
    assert_true(taken.is_virtual && taken.no_tree_spawn && taken.verbose);
    assert_int_equal(taken.port_last, 4100);
    assert_string_equal(taken.rsh, "ssh -o 'A=100% \xc3\xa4'");
    assert_string_equal(taken.xylemd, "/opt/my bin/xylemd");
    assert_int_equal(taken.nofile, 1024);
    assert_int_equal(ep_boot_param(&taken, "linger_ms", 7), 2000);
    assert_true(ep_boot_param(&taken, "big", 7) == UINT64_MAX);
    assert_int_equal(ep_boot_param(&taken, "other", 7), 7);
    assert_string_equal(ep_boot_host(&taken, 13), "user@n13.example");
    assert_null(ep_boot_host(&taken, 5));
    assert_int_equal(ep_boot_reader_end(&rd), 0);
    text_buf_fini(&text);
    ep_boot_config_fini(&config);
}

static void pieces_of_one_byte_are_enough(void **state)
{
    struct ep_boot_config config;
    struct text_buf text = {0};
    char why[EP_BOOT_WHY_MAX] = "";

    (void)state;
    build(&config);
    assert_int_equal(ep_boot_encode(&config, &text, why), 0);
    text_buf_puts(&text, "peer 0 127.0.0.1:4000 " NONCE "\n");
    for (size_t i = 0; i < text.len_bytes; i++)
        assert_int_equal(ep_boot_reader_feed(&rd, text.at + i, 1), 0);
    assert_string_equal(told, "go peer(0,127.0.0.1:4000,4f) ");
    assert_same(&config, &taken);
    text_buf_fini(&text);
    ep_boot_config_fini(&config);
}

static void unknown_means_default_and_any_order_will_do(void **state)
{
    (void)state;
    assert_int_equal(feed_first(), 0);
    assert_int_equal(feed("launcher local\ntree 10 3\nhosted 1 1\nkey " KEY
                          "\nsession 1122334455667788\ngo\n"),
                     0);
    assert_string_equal(told, "go ");
    assert_null(taken.provider);
    assert_null(taken.interface);
    assert_int_equal(taken.port_first, 0);
    assert_int_equal(taken.heartbeat_ms, 0);
    assert_false(taken.is_virtual || taken.verbose || taken.no_tree_spawn);
}

static void peers_come_in_the_same_burst_or_later(void **state)
{
    struct ep_boot_peer peer = {.node = 9, .address = "[fe80::1%eth0]:1"};
    struct text_buf text = {0};

    (void)state;
    assert_int_equal(feed_first(), 0);
    assert_int_equal(feed(NEEDED "go\npeer 0 a:1 " NONCE "\npeer 4 b"), 0);
    assert_string_equal(told, "go peer(0,a:1,4f) ");
    assert_int_equal(feed(":2 " NONCE "\n"), 0);
    ep_boot_peer_encode(&peer, &text);
    assert_string_equal(text.at, "peer 9 [fe80::1%25eth0]:1 "
                                 "00000000000000000000000000000000\n");
    assert_int_equal(feed(text.at), 0);
    assert_string_equal(told, "go peer(0,a:1,4f) peer(4,b:2,4f) "
                              "peer(9,[fe80::1%eth0]:1,00) ");
    text_buf_fini(&text);
}

/* Each text is fed after a valid first line; `words` is the expected error. */
static const struct {
    const char *text;
    const char *words;
} bad_texts[] = {
    {"\n", "line 2 of the start-up text is not known: \"\""},
    {"nonsense 1\n", "line 2 of the start-up text is not known: \"nonsense\""},
    {"xylem-boot 1\n", "is not known: \"xylem-boot\""},
    {"peer 0 a:1 " NONCE "\n", "is not known: \"peer\""},
    {"go now\n", "is not known: \"go\""},
    {"go\n", "is not complete: no \"session\" line"},
    {"session 1122334455667788\ngo\n", "no \"key\" line"},
    {"session 11223344556677\n", "expected \"session HEX16\""},
    {"session 1122334455667788 9\n", "line 2 of the start-up text is not"},
    {"session 11223344556677zz\n", "expected \"session HEX16\""},
    {"session\n", "expected \"session HEX16\""},
    {"verbose\nverbose\n",
     "line 3 of the start-up text: \"verbose\" comes twice"},
    {"verbose 1\n", "expected \"verbose\""},
    {"virtual yes\n", "expected \"virtual\""},
    {"key 00\n", "expected \"key HEX64\""},
    {"key " KEY "00\n", "expected \"key HEX64\""},
    {"tree 0 3\n", "expected \"tree NODES ARITY\""},
    {"tree 10 0\n", "expected \"tree NODES ARITY\""},
    {"tree 10 1025\n", "expected \"tree NODES ARITY\""},
    {"tree 4294967295 2\n", "expected \"tree NODES ARITY\""},
    {"tree 10\n", "expected \"tree NODES ARITY\""},
    {"tree ten 3\n", "expected \"tree NODES ARITY\""},
    {"children 3 1\n", "expected \"children EACH NODES"},
    {"tree 10 3\nchildren 3 0\n", "expected \"children EACH NODES"},
    {"tree 10 3\nchildren 1025 1\n", "expected \"children EACH NODES"},
    {"tree 10 3\nchildren 3 4\n", "expected \"children EACH NODES"},
    {"tree 10 3\nchildren 0 11\n", "expected \"children EACH NODES"},
    {"tree 4000000 3\nchildren 3 1\n", "expected \"children EACH NODES"},
    {NEEDED "children 3 2\ngo\n",
     "the \"children\" lines of the start-up text"},
    {NEEDED "children 0 1\nchildren 3 3\ngo\n",
     "make no tree of so many nodes"},
    {"launcher moon\n", "expected \"launcher local|ssh|slurm\""},
    {"launcher\n", "expected \"launcher local|ssh|slurm\""},
    {"tree 3 3\nhosts a,b,c\n", "expected \"hosts LIST"},
    {"tree 3 3\nhosts a[\n", "expected \"hosts LIST"},
    {"session 1122334455667788\nkey " KEY "\ntree 3 3\nlauncher ssh\ngo\n",
     "no hosted node"},
    {"hosted 1 1\n", "expected \"hosted FIRST LAST"},
    {"tree 10 3\nhosted 2 1\n", "expected \"hosted FIRST LAST"},
    {"tree 10 3\nhosted 1 10\n", "expected \"hosted FIRST LAST"},
    {"tree 10 3\nhosted 1 3\nhosted 3 4\n", "line 4 of the start-up text"},
    {"tree 10 3\nhosted 1\n", "expected \"hosted FIRST LAST"},
    {"provider\n", "expected \"provider NAME\""},
    {"provider a b\n", "expected \"provider NAME\""},
    {"provider a%\n", "expected \"provider NAME\""},
    {"provider a\r\n", "expected \"provider NAME\""},
    {"interface a\tb\n", "expected \"interface NAME\""},
    {"rsh  x\n", "expected \"rsh COMMAND\""},
    {"xylemd %00\n", "expected \"xylemd PATH\""},
    {"ports 5 4\n", "expected \"ports FIRST LAST\""},
    {"ports 0 4\n", "expected \"ports FIRST LAST\""},
    {"ports 1 65536\n", "expected \"ports FIRST LAST\""},
    {"param x\n", "expected \"param NAME VALUE"},
    {"param x 18446744073709551616\n", "expected \"param NAME VALUE"},
    {"param X 1\n", "expected \"param NAME VALUE"},
    {"param % 1\n", "expected \"param NAME VALUE"},
    {"param x 1\nparam x 2\n", "line 3 of the start-up text is not"},
    {"param nofile 1\nparam nofile 2\n", "line 3 of the start-up text is not"},
    {"param nofile 0\n", "expected \"param NAME VALUE"},
    {"param nofile 4294967296\n", "expected \"param NAME VALUE"},
    {"param a2345678901234567890123456789012 1\n", "expected \"param NAME"},
    {"tree 10 3\nhost 10 a\n", "expected \"host NODE NAME"},
    {"tree 10 3\nhost 1 -oProxyCommand=x\n", "expected \"host NODE NAME"},
    {"tree 10 3\nhost 1 a%20b\n", "expected \"host NODE NAME"},
    {"tree 10 3\nhost 1 %\n", "expected \"host NODE NAME"},
    {"tree 10 3\nhost 2 a\nhost 2 b\n", "line 4 of the start-up text is not"},
    {"tree 10 3\nhost 2 a\nhost 1 b\n", "line 4 of the start-up text is not"},
    {NEEDED "host 4 a\ngo\n", "no rsh or no xylemd"},
    {"key 0000000000000000000000000000000000000000000000000000000000000000\n"
     "session 0000000000000001\ntree 1 1\nlauncher local\nhosted 0 0\ngo\n",
     "no session key"},
    {NEEDED "go\nverbose\n", "expected \"peer NODE ADDRESS NONCE\""},
    {NEEDED "go\npeer 10 a:1 " NONCE "\n", "expected \"peer NODE ADDRESS"},
    {NEEDED "go\npeer 1 % " NONCE "\n", "expected \"peer NODE ADDRESS"},
    {NEEDED "go\npeer 1 a:1 " NONCE "0\n", "expected \"peer NODE ADDRESS"},
    {NEEDED "go\npeer 1 a:1\n", "expected \"peer NODE ADDRESS NONCE\""},
    {NEEDED "go\npeer 1 a:1 " NONCE " x\n", "expected \"peer NODE ADDRESS"},
    {NEEDED "go\npeer 1 01234567890123456789012345678901234567890123456789012"
            "3456789012345678901 " NONCE "\n",
     "expected \"peer NODE ADDRESS NONCE\""},
};

static void bad_text_is_refused_in_words(void **state)
{
    for (unsigned i = 0; i < sizeof(bad_texts) / sizeof(bad_texts[0]); i++) {
        leave(state);
        enter(state);
        assert_int_equal(feed_first(), 0);
        if (feed(bad_texts[i].text) != OV_EPROTO ||
            strstr(rd.why, bad_texts[i].words) == NULL)
            fail_msg("%s -> %s", bad_texts[i].text, rd.why);
        assert_null(strstr(rd.why, "0001020304"));
        assert_null(strstr(told, "peer"));
        /* The reader keeps failing after an error. */
        assert_int_equal(feed("\n"), OV_EPROTO);
        assert_int_equal(ep_boot_reader_end(&rd), OV_EPROTO);
    }
}

static void parameters_beyond_the_maximum_are_refused(void **state)
{
    char line[64];

    (void)state;
    assert_int_equal(feed_first(), 0);
    for (unsigned i = 0; i < EP_BOOT_PARAMS_MAX; i++) {
        snprintf(line, sizeof(line), "param p%u %u\n", i, i);
        assert_int_equal(feed(line), 0);
    }
    assert_int_equal(feed("param more 1\n"), OV_EPROTO);
}

static void another_version_is_named_with_both_and_the_path(void **state)
{
    (void)state;
    assert_int_equal(feed("xylem-boot 99.1-rc2\nsome future line\n"),
                     OV_EPROTO);
    assert_non_null(strstr(rd.why, "99.1-rc2"));
    assert_non_null(strstr(rd.why, ep_boot_version()));
    assert_non_null(strstr(rd.why, "/opt/bin/xylemd"));
    assert_non_null(strstr(rd.why, "--xylemd"));
}

static void starting_by_hand_is_explained(void **state)
{
    static const char *const typed[] = {"hello\n", "\n", "go\n", "xylem-boot",
                                        "XYLEM-BOOT 1\n"};

    for (unsigned i = 0; i < sizeof(typed) / sizeof(typed[0]); i++) {
        leave(state);
        enter(state);
        if (strchr(typed[i], '\n') != NULL) {
            assert_int_equal(feed(typed[i]), OV_EPROTO);
            assert_non_null(strstr(rd.why, "not by hand"));
        }
    }
    leave(state);
    enter(state);
    assert_int_equal(ep_boot_reader_end(&rd), OV_ECLOSED);
    assert_non_null(strstr(rd.why, "not by hand"));
    leave(state);
    enter(state);
    assert_int_equal(feed("xylem-boot\n"), OV_EPROTO);
    assert_non_null(strstr(rd.why, "names no version"));
    leave(state);
    enter(state);
    assert_int_equal(feed("xylem-boot 1%1B[2J\n"), OV_EPROTO);
    assert_non_null(strstr(rd.why, "names no version"));
}

static void starter_that_goes_away_early_is_noticed(void **state)
{
    (void)state;
    assert_int_equal(feed_first(), 0);
    assert_int_equal(feed(NEEDED "g"), 0);
    assert_int_equal(ep_boot_reader_end(&rd), OV_ECLOSED);
    assert_non_null(strstr(rd.why, "ended before"));
    assert_int_equal(feed("o\n"), OV_ECLOSED);
}

/* A line is refused as soon as it exceeds its limit, not when it ends. */
static void endless_line_is_refused(void **state)
{
    static char piece[65536];
    unsigned pieces = 0;

    (void)state;
    memset(piece, 'x', sizeof(piece));
    while (ep_boot_reader_feed(&rd, piece, sizeof(piece)) == 0)
        pieces++;
    assert_int_equal(pieces, EP_BOOT_LINE_MAX / sizeof(piece));
    assert_non_null(strstr(rd.why, "a line of more than 1 MiB"));
}

static void endless_text_is_refused(void **state)
{
    static char piece[1 << 16];
    uint64_t total = 0;
    int rc = feed_first();

    (void)state;
    /* A start-up text has few parameters: only lines for hosts may be this
     * many. */
    rc = rc != 0 ? rc : feed("tree 4294967294 1024\n");
    for (uint32_t node = 0; rc == 0; total += strlen(piece)) {
        piece[0] = '\0';
        for (size_t len = 0; len < sizeof(piece) - 2100; node++)
            len += (size_t)snprintf(piece + len, sizeof(piece) - len,
                                    "host %u %02000u\n", node, 1);
        rc = feed(piece);
    }
    assert_int_equal(rc, OV_EPROTO);
    assert_non_null(strstr(rd.why, "a total of more than 64 MiB"));
    assert_true(total > EP_BOOT_TOTAL_MAX - (1 << 17));
    assert_true(total < EP_BOOT_TOTAL_MAX + (1 << 17));
}

static void incomplete_or_huge_configuration_is_not_encoded(void **state)
{
    struct ep_boot_config config;
    struct text_buf text = {0};
    char why[EP_BOOT_WHY_MAX] = "";
    char *huge = malloc(EP_BOOT_LINE_MAX + 1);

    (void)state;
    assert_non_null(huge);
    memset(huge, 'x', EP_BOOT_LINE_MAX);
    huge[EP_BOOT_LINE_MAX] = '\0';
    build(&config);
    text_buf_puts(&text, "before");
    config.port_last = 1;
    assert_int_equal(ep_boot_encode(&config, &text, why), OV_EINVAL);
    assert_non_null(strstr(why, "port range"));
    config.port_last = 4100;
    assert_int_equal(job_set_string(&config.provider, huge), 0);
    assert_int_equal(ep_boot_encode(&config, &text, why), OV_EINVAL);
    assert_non_null(strstr(why, "too big"));
    assert_int_equal(text.len_bytes, strlen("before"));
    memset(&config.auth, 0, sizeof(config.auth));
    assert_int_equal(ep_boot_encode(&config, &text, why), OV_EINVAL);
    assert_non_null(strstr(why, "no session key"));
    free(huge);
    text_buf_fini(&text);
    ep_boot_config_fini(&config);
}

static void hosted_ranges_ascend(void **state)
{
    struct ep_boot_config config = {.tree = {.nodes = 100, .arity = 2}};

    (void)state;
    for (uint32_t first = 10; first < 100; first += 10)
        assert_int_equal(
            ep_boot_add_hosted(&config, (struct topo_range){first, first + 4}),
            0);
    assert_int_equal(config.hosted_count, 9);
    for (uint32_t i = 0; i < 9; i++) {
        assert_int_equal(config.hosted[i].first, 10 * i + 10);
        assert_int_equal(config.hosted[i].last, 10 * i + 14);
    }
    assert_int_equal(ep_boot_add_hosted(&config, (struct topo_range){94, 99}),
                     OV_EINVAL);
    assert_int_equal(ep_boot_add_hosted(&config, (struct topo_range){95, 100}),
                     OV_EINVAL);
    ep_boot_config_fini(&config);
}

/* The hosts that are sent to the children of the root are all hosts but the
 * root's, each in the part for its own subtree. */
static void child_gets_the_hosts_of_its_subtree(void **state)
{
    struct ep_boot_config config, child;
    char name[16];
    uint32_t count = 0;

    (void)state;
    build(&config);
    for (uint32_t node = 14; node < 40; node++) {
        snprintf(name, sizeof(name), "n%u", node);
        assert_int_equal(ep_boot_add_host(&config, node, name), 0);
    }
    for (uint32_t top = 1; top <= 3; top++) {
        assert_int_equal(ep_boot_config_child(&config, top, &child), 0);
        assert_int_equal(child.hosted_count, 1);
        assert_int_equal(child.hosted[0].first, top);
        assert_string_equal(child.rsh, config.rsh);
        assert_int_equal(ep_boot_param(&child, "linger_ms", 0), 2000);
        for (uint32_t i = 0; i < child.hosts_count; i++)
            assert_true(
                topo_tree_contains(&child.tree, top, child.hosts[i].node));
        count += child.hosts_count;
        ep_boot_config_fini(&child);
    }
    assert_int_equal(count, config.hosts_count);
    assert_int_equal(ep_boot_config_child(&config, 40, &child), OV_EINVAL);
    ep_boot_config_fini(&child);
    ep_boot_config_fini(&config);
}

/* Variables that tune the fabric are passed on, also to daemons beneath; keys
 * of other providers and other names are not. */
static void only_the_fabrics_variables_travel(void **state)
{
    static const char *const good[] = {
        "FI_PROVIDER=tcp",   "FI_PROVIDER_PATH=/a b",  "FI_FORK_UNSAFE=",
        "FI_LOG_LEVEL=info", "FI_MR_CACHE_MAX_SIZE=0", "FI_TCP_IFACE=lo",
        "FI_VERBS_TX_SIZE=1"};
    static const char *const bad[] = {"FI_PSM3_UUID=key",
                                      "FI_PROVIDERS=x",
                                      "LD_PRELOAD=x.so",
                                      "FI_TCP_IFACE",
                                      "FI_",
                                      "",
                                      "=FI_TCP_IFACE=1"};
    enum { GOOD = sizeof(good) / sizeof(good[0]) };
    struct ep_boot_config config = {.tree = {.nodes = 3, .arity = 1}};
    struct ep_boot_config child;

    (void)state;
    for (size_t i = 0; i < GOOD; i++)
        assert_int_equal(ep_boot_add_env(&config, good[i]), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(ep_boot_add_env(&config, bad[i]), OV_EINVAL);
    assert_int_equal(ep_boot_config_child(&config, 1, &child), 0);
    assert_int_equal(child.env.count, GOOD);
    for (size_t i = 0; i < GOOD; i++)
        assert_string_equal(child.env.at[i], good[i]);
    ep_boot_config_fini(&child);
    ep_boot_config_fini(&config);
}

#define T(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(configuration_is_this_text),
        T(configuration_survives_the_way),
        T(pieces_of_one_byte_are_enough),
        T(unknown_means_default_and_any_order_will_do),
        T(peers_come_in_the_same_burst_or_later),
        T(bad_text_is_refused_in_words),
        T(parameters_beyond_the_maximum_are_refused),
        T(another_version_is_named_with_both_and_the_path),
        T(starting_by_hand_is_explained),
        T(starter_that_goes_away_early_is_noticed),
        T(endless_line_is_refused),
        T(endless_text_is_refused),
        T(incomplete_or_huge_configuration_is_not_encoded),
        T(hosted_ranges_ascend),
        T(child_gets_the_hosts_of_its_subtree),
        T(only_the_fabrics_variables_travel),
    };

    return cmocka_run_group_tests_name("boot", tests, NULL, NULL);
}
