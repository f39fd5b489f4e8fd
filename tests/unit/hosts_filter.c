/* A filter for tests in other languages: reads a host list per line; writes its
 * names with blanks between them, a tab, and its short form. For a line "LIST -
 * LIST" it writes the hosts of the first list that are not in the second. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/hosts.h"

static int read_hosts(struct topo_hosts *hosts, char *list, char *why)
{
    char *minus = strstr(list, " - ");
    struct topo_hosts less;
    int rc;

    if (minus != NULL)
        *minus = '\0';
    rc = topo_hosts_parse(hosts, list, why);
    if (rc != 0 || minus == NULL)
        return rc;
    rc = topo_hosts_parse(&less, minus + 3, why);
    if (rc == 0) {
        rc = topo_hosts_exclude(hosts, &less, "--exclude", why);
        topo_hosts_fini(&less);
    }
    if (rc != 0)
        topo_hosts_fini(hosts);
    return rc;
}

static int answer(char *list)
{
    char why[TOPO_WHY_MAX];
    struct topo_hosts hosts;
    char *fold = NULL;

    if (read_hosts(&hosts, list, why) != 0) {
        printf("error\t%s\n", why);
        return 0;
    }
    for (uint32_t i = 0; i < hosts.count; i++)
        printf("%s%s", i > 0 ? " " : "", topo_hosts_name(&hosts, i));
    fold = topo_hosts_fold(&hosts, hosts.count);
    topo_hosts_fini(&hosts);
    if (fold == NULL)
        return 1;
    printf("\t%s\n", fold);
    free(fold);
    return 0;
}

int main(void)
{
    char *line = NULL;
    size_t max = 0;
    int rc = 0;

    while (rc == 0 && getline(&line, &max, stdin) > 0) {
        line[strcspn(line, "\n")] = '\0';
        rc = answer(line);
    }
    free(line);
    return rc;
}
