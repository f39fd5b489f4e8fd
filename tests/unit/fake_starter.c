/* A starter that starts nothing: each request becomes a text, and the test
 * itself makes the callbacks. */
#include "tests/unit/fake_starter.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoints/boot/gate.h"
#include "endpoints/spawn/spawner.h"

struct fake_starter fake_starter;

static void note(const char *format, ...)
{
    size_t at = strlen(fake_starter.text);
    va_list args;

    va_start(args, format);
    vsnprintf(fake_starter.text + at, FAKE_TEXT_MAX - at, format, args);
    va_end(args);
}

const char *fake_starter_said(void)
{
    static char text[FAKE_TEXT_MAX];

    memcpy(text, fake_starter.text, sizeof(text));
    fake_starter.text[0] = '\0';
    return text;
}

int ep_starter_open(const struct ep_starter_cfg *cfg, struct ep_starter **out)
{
    fake_starter =
        (struct fake_starter){.events = cfg->events, .arg = cfg->arg};
    *out = (struct ep_starter *)&fake_starter;
    return 0;
}

int ep_starter_attach(struct ep_starter *st)
{
    (void)st;
    return 0;
}

int ep_starter_add_config(struct ep_starter *st, uint32_t index,
                          const struct ep_boot_config *config, const char *host,
                          char *why)
{
    (void)st;
    (void)host;
    (void)why;
    note("start %u:", index);
    for (uint32_t i = 0; i < config->hosted_count; i++)
        note(" %u-%u", config->hosted[i].first, config->hosted[i].last);
    note("\n");
    return 0;
}

int ep_starter_add_child(struct ep_starter *st,
                         const struct ep_boot_config *own, uint32_t child,
                         char *why)
{
    (void)st;
    (void)own;
    (void)why;
    note("start %u\n", child);
    return 0;
}

void ep_starter_begin(struct ep_starter *st)
{
    (void)st;
    note("begin\n");
}

int ep_starter_take_over(struct ep_starter *st,
                         const struct ep_boot_config *own, uint32_t node,
                         uint32_t time_ms, const char *words, char *why)
{
    (void)st;
    (void)own;
    (void)why;
    note("take over %u in %u ms: %s\n", node, time_ms, words);
    return 0;
}

int ep_starter_add_all(struct ep_starter *st, uint32_t index,
                       const struct ep_boot_config *config, char *why)
{
    (void)st;
    (void)config;
    (void)why;
    note("start all as %u\n", index);
    return 0;
}

int ep_starter_expect(struct ep_starter *st, uint32_t index,
                      enum ep_launcher launcher, const char *host)
{
    (void)st;
    (void)launcher;
    note("expect %u on %s\n", index, host);
    return 0;
}

int ep_starter_called(struct ep_starter *st, uint32_t index, int fd)
{
    (void)st;
    note("called %u by %d\n", index, fd);
    return 0;
}

void ep_starter_arrived(struct ep_starter *st, uint32_t index)
{
    (void)st;
    note("arrived %u\n", index);
}

int ep_starter_peer(struct ep_starter *st, uint32_t index,
                    const struct ep_boot_peer *peer)
{
    (void)st;
    note("tell %u: %u at %s\n", index, peer->node, peer->address);
    return 0;
}

void ep_starter_leave(struct ep_starter *st)
{
    (void)st;
    note("leave\n");
}

void ep_starter_close(struct ep_starter *st)
{
    (void)st;
}

int ep_gate_open(const struct ep_gate_cfg *cfg, struct ep_gate **out, char *why)
{
    (void)cfg;
    (void)why;
    note("gate\n");
    *out = (struct ep_gate *)&fake_starter;
    return 0;
}

int ep_gate_list(const struct ep_gate *gate, struct ep_boot_config *config)
{
    (void)gate;
    (void)config;
    return 0;
}

void ep_gate_close(struct ep_gate *gate)
{
    if (gate != NULL)
        note("gate closed\n");
}

int ep_spawner_sweep(struct ep_spawner *sp)
{
    (void)sp;
    note("sweep\n");
    return 0;
}
