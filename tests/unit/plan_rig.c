/* A plan of a run, for tests that start nothing. */
#include "tests/unit/plan_rig.h"

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
                                .again = &f->again,
                                .voice = &f->voice,
                                .job = &f->job};
}

void close_fixture(struct fixture *f)
{
    ep_run_plan_close(&f->plan);
    ep_run_again_fini(&f->again);
    job_fini(&f->job);
    ep_voice_fini(&f->voice);
}
