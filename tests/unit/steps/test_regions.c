/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of foreign archives without file and line: their name is the name, but for those around everything. */
#include "tests/unit/scene/scene.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void border(struct scene *scene, uint32_t rank, enum event_kind kind, uint32_t region)
{
    scene_event(scene, (struct event){.kind = (uint16_t)kind,
                                      .loc = rank,
                                      .time_ns = scene->now_us[rank] * 1000,
                                      .region = region,
                                      .frame = TRACE_NONE});
}

static void forget_source(struct scene *scene)
{
    for (uint32_t i = 0; i < scene->trace->n_regions; i++) {
        scene->trace->regions[i].file = NULL;
        scene->trace->regions[i].line_first = scene->trace->regions[i].line_last = 0;
    }
}

/* In main, as archives are that know no more: rank 1 takes long for a region, once, between the two calls. */
static struct scene *play(const char *region, bool is_before)
{
    struct scene *scene = scene_make(2);
    uint32_t outer = trace_memory_region(scene->trace, "main", false, WW_LOCAL, WW_COLL_NONE);
    for (uint32_t rank = 0; rank < 2; rank++)
        border(scene, rank, EV_ENTER, outer);
    for (uint32_t call = 0; call < 3; call++) {
        if (call != (is_before ? 0 : 1))
            scene->now_us[1] += 1000;
        else if (region)
            scene_work(scene, 1, region, scene->now_us[1] + 1000);
        for (uint32_t rank = 0; rank < 2; rank++)
            scene_collective(scene, rank, WW_ID_Allreduce, TRACE_NONE, scene->now_us[1] + 5);
    }
    for (uint32_t rank = 0; rank < 2; rank++)
        border(scene, rank, EV_LEAVE, outer);
    forget_source(scene);
    scene_analyse(scene);
    return scene;
}

static double blame_between_calls(const struct scene *scene)
{
    double blame_ns = 0;
    for (uint32_t i = 0; i < scene->analysis->n_causes; i++) {
        const struct step *step = &scene->analysis->steps[scene->analysis->causes[i].step];
        blame_ns += step->label && strstr(step->label, "between") ? scene->analysis->causes[i].waiting_ns : 0;
    }
    return blame_ns / 1000;
}

static void a_region_in_main_has_its_name(void **state)
{
    (void)state;
    for (int is_before = 0; is_before < 2; is_before++) {
        struct scene *scene = play("slow_region", is_before);
        assert_true(scene_blame(scene, "slow_region", 1) > 990);
        assert_true(scene_blame(scene, "main", 1) < 1);
        assert_true(blame_between_calls(scene) > 990);
        scene_free(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_region_in_main_has_its_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
