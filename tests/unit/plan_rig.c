/* A plan of a run, for tests that start nothing. */
#include "tests/unit/plan_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

void open_fixture(struct fixture *f, const char *hosts)
{
    static const char *const argv[] = {"true", NULL};

    *f = (struct fixture){.options = {.apps = {{.program = {.argv = argv},
                                                .per = TOPO_NO_OBJECT}},
                                      .apps_count = 1,
                                      .hosts = hosts,
                                      .launcher = EP_LAUNCHER_SSH,
                                      .topology = "none"}};
    f->plan = (struct run_plan){.options = &f->options,
                                .relaunch = &f->again,
                                .voice = &f->voice,
                                .job = &f->job};
}

void close_fixture(struct fixture *f)
{
    ep_run_plan_close(&f->plan);
    ep_run_relaunch_fini(&f->again);
    job_fini(&f->job);
    ep_voice_fini(&f->voice);
}

void capture_begin(struct capture *c)
{
    c->file = tmpfile();
    assert_non_null(c->file);
    c->saved = dup(STDERR_FILENO);
    assert_int_equal(dup2(fileno(c->file), STDERR_FILENO), STDERR_FILENO);
}

void capture_end(struct capture *c)
{
    size_t len;

    assert_int_equal(dup2(c->saved, STDERR_FILENO), STDERR_FILENO);
    close(c->saved);
    rewind(c->file);
    len = fread(c->text, 1, sizeof(c->text) - 1, c->file);
    c->text[len] = '\0';
    fclose(c->file);
}
