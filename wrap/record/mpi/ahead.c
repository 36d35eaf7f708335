/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/mpi/ahead.h"
#include "wrap/record/mpi/life.h"
#include "wrap/record/pmpi/next.h"
#include "wrap/record/process/say.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

struct ahead {
    const char *object, *function; /* the first one found */
    unsigned n;                    /* functions */
    bool is_program;               /* the object is the program itself, not a library */
};

/* In the global scope, where a program that does not define a function but takes its address may be found as well. */
static void look_up(const char *name, const void *own, struct ahead *ahead)
{
    void *first = dlsym(RTLD_DEFAULT, name);
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    const struct link_map *map = NULL;
    if (!first || first == own || !dladdr1(first, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol ||
        symbol->st_shndx == SHN_UNDEF)
        return;
    if (!ahead->n++) {
        ahead->is_program = dladdr1(first, &info, (void **)&map, RTLD_DL_LINKMAP) && map && !map->l_name[0];
        ahead->object = info.dli_fname;
        ahead->function = name;
    }
}

static void *open_ourselves(void)
{
    Dl_info ours;
    return dladdr(&mpi_handles, &ours) ? dlopen(ours.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

static struct ahead find_ahead(void)
{
    static const char *const names[] = {
#define WW_MPI(name, class, coll) "MPI_" #name,
#include "wrap/mpi_calls.def"
#undef WW_MPI
    };
    struct ahead ahead = {0};
    int saved_errno = errno;
    void *ourselves = open_ourselves();
    for (size_t i = 0; ourselves && i < sizeof names / sizeof *names; i++) {
        const void *own = dlsym(ourselves, names[i]);
        if (own)
            look_up(names[i], own, &ahead);
    }
    if (ourselves)
        dlclose(ourselves);
    errno = saved_errno;
    return ahead;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *advice(const struct ahead *ahead)
{
    return ahead->is_program ? "a tool that is linked into the program: link without it, or its shared library"
                             : "preload it behind libwhywait, as `whywait record` does";
}

void ahead_note(void)
{
    struct ahead ahead = find_ahead();
    if (ahead.n)
        say_note("%s takes %s ahead of the recorder (%u MPI functions in all): calls that it passes on as PMPI are "
                 "not recorded (%s)",
                 base_name(ahead.object), ahead.function, ahead.n, advice(&ahead));
}

static bool mpi_was_used(void)
{
    int (*initialized)(int *) = dlsym(RTLD_DEFAULT, "PMPI_Initialized");
    int flag = 0;
    return initialized && initialized(&flag) == MPI_SUCCESS && flag;
}

/* At the end of every process that we are loaded into: where MPI_Init itself was hidden from us, nobody else says so.
 */
static __attribute__((destructor)) void tell_if_unseen(void)
{
    int saved_errno = errno;
    struct ahead init = {0};
    if (!life_has_started())
        look_up("MPI_Init", (void *)MPI_Init, &init);
    if (init.n && say_is_first_rank() && mpi_was_used())
        say("nothing was recorded: %s takes MPI_Init ahead of the recorder and passes it on as PMPI_Init (%s)",
            base_name(init.object), advice(&init));
    errno = saved_errno;
}
