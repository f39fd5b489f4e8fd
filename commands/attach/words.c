/* Prints messages of this command on stderr. */
#include "commands/attach/words.h"

#include <stdarg.h>
#include <stddef.h>

#include "endpoints/run/voice.h"
#include "endpoints/run/watch.h"

enum { RETRY_MS = 100, LAST_WORDS_MS = 500 };

static struct {
    struct run_voice voice;
    struct run_watch *watch;
} words;

static void on_wait(void *arg)
{
    (void)arg;
    ep_watch_soon(words.watch);
}

static void on_watch(void *arg)
{
    (void)arg;
    ep_voice_retry(&words.voice, 0);
    if (ep_voice_waits(&words.voice))
        ep_watch_soon(words.watch);
}

int words_open(struct event_base *base, bool (*ask)(void *arg, bool wants))
{
    words.voice.on_wait = on_wait;
    words.voice.ask = ask;
    return ep_watch_open(base, 1, RETRY_MS, on_watch, NULL, &words.watch);
}

void words_retry(void)
{
    ep_voice_retry(&words.voice, 0);
    if (ep_voice_waits(&words.voice))
        ep_watch_anew(words.watch);
}

void words_close(void)
{
    words.voice.ask = NULL;
    ep_voice_retry(&words.voice, LAST_WORDS_MS);
    ep_voice_fini(&words.voice);
    ep_watch_close(words.watch);
    words.watch = NULL;
}

struct run_voice *words_voice(void)
{
    return &words.voice;
}

int words_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    ep_voice_vsay(&words.voice, format, args);
    va_end(args);
    return 1;
}
