/* A starter that starts nothing: each request becomes a text, and the test
 * itself makes the callbacks. */
#ifndef TESTS_UNIT_FAKE_STARTER_H
#define TESTS_UNIT_FAKE_STARTER_H

#include "endpoints/boot/starter.h"

enum { FAKE_TEXT_MAX = 4096 };

/* The only fake starter. */
extern struct fake_starter {
    const struct ep_starter_events *events;
    void *arg;
    char text[FAKE_TEXT_MAX]; /* a line for each request */
} fake_starter;

/* Returns the requests since the last call. */
const char *fake_starter_said(void);

#endif
