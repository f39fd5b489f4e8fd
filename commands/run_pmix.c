/* Whose PMIx tools may connect. */
#include "commands/run_pmix.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/refuse.h"

static uint8_t allowed = RUN_PMIX_USER | RUN_PMIX_ROOT;

/* --- who may connect */

static bool find_user(const char *word, uid_t *uid)
{
    const struct passwd *user = getpwnam(word);
    char *end;
    unsigned long number = strtoul(word, &end, 10);

    *uid = user != NULL ? user->pw_uid : (uid_t)number;
    return user != NULL || (end != word && *end == '\0' && *uid == number);
}

static uint8_t bits_of(const char *word)
{
    uint8_t bits = 0;
    uid_t uid;

    if (!find_user(word, &uid))
        usage("--pmix-allow: there is no user '%s'", word);
    if (uid == geteuid())
        bits |= RUN_PMIX_USER;
    if (uid == 0)
        bits |= RUN_PMIX_ROOT;
    if (bits == 0)
        usage("--pmix-allow takes the user of the job and root, not '%s'",
              word);
    return bits;
}

void run_pmix_allow(const char *users)
{
    char *list = strdup(users), *rest = NULL;

    allowed = 0;
    for (char *word = list != NULL ? strtok_r(list, ",", &rest) : NULL;
         word != NULL; word = strtok_r(NULL, ",", &rest))
        allowed |= bits_of(word);
    free(list);
    if (allowed == 0)
        usage("--pmix-allow names nobody: --no-pmix lets nobody in");
}

uint8_t run_pmix_allowed(void)
{
    return allowed;
}
