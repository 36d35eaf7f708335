/* SPDX-License-Identifier: BSD-3-Clause */
/* Two exchanges: number 0 gives the work to all, and all give their answers to all. */
#include "analyze/engine/call.h"
#include "wrap/base/containers.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct parcel *places(const struct engine *engine)
{
    struct parcel *take = memory_new(engine_n(engine) + 1, sizeof *take);
    return take;
}

static void take_answers(struct engine *engine, struct parcel mine)
{
    struct parcel *take = places(engine);
    engine_tell_all(engine, mine, take);
    for (uint32_t i = 1; i < engine_n(engine); i++) {
        if (take[i].n_bytes == PARCEL_LOST || !take[i].n_bytes)
            continue;
        if (engine_is_first(engine))
            warn("%.*s, so the work goes on without that process", (int)take[i].n_bytes, (const char *)take[i].at);
        engine->is_lost[i] = true;
    }
    free(take);
}

void call_others(struct engine *engine, struct parcel work)
{
    struct parcel *take = places(engine);
    engine_tell_all(engine, work, take);
    free(take);
    take_answers(engine, (struct parcel){0});
}

/* This process and its child see the same others lost, once the next call has come. */
_Noreturn void call_serve(struct engine *engine, void (*perform)(struct engine *engine, struct parcel work))
{
    struct parcel *take = places(engine);
    for (;;) {
        engine_exchange(engine, NULL, take);
        pid_t parent = getpid(), pid = fork();
        int status = 1;
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent)
                _exit(1);
            perform(engine, take[0]);
            engine_end(engine);
        }
        while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
        if (status)
            engine_give_up(engine);
    }
}

void call_answer(struct engine *engine, const char *refusal)
{
    take_answers(engine, (struct parcel){refusal, refusal ? strlen(refusal) : 0});
    if (refusal)
        engine_give_up(engine);
}
