/* A starter that starts nothing: what it is asked for becomes a text, and the
 * test itself makes the callbacks. */
#ifndef TESTS_UNIT_FAKE_STARTER_H
#define TESTS_UNIT_FAKE_STARTER_H

#include "endpoints/boot/starter.h"

enum { FAKE_TEXT_MAX = 4096 };

/* The only one. */
extern struct fake_starter {
    const struct ep_starter_events *events;
    void *arg;
    char text[FAKE_TEXT_MAX]; /* a line for each call */
} fake_starter;

/* What was asked since the last call. */
const char *fake_starter_said(void);

#endif
