/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the functions and handles of MPI by name.
 *
 * RTLD_NEXT sees what was loaded with the program. An interpreter that opened MPI privately has it elsewhere, so the
 * loaded objects whose file name says MPI are asked next, ourselves excepted: a wrapper that found itself would
 * recurse.
 *
 * Other tools of MPI's profiling interface: one that the dynamic linker finds behind us is called by us. One that it
 * finds before us (preloaded before us, or linked into the program) shadows our functions. It takes calls first, and
 * passes them on to MPI's PMPI_ names, past us. To see that, it looks its own functions up as the program does.
 *
 * Taking this library out of the way: preloaded into a program of the other MPI, even a wrapper that only passes its
 * arguments on is wrong. A handle is a pointer there and an int here. Symbols cannot be withdrawn, but the slots
 * through which objects call them can be rewritten (slots.h): each that names a symbol of ours gets the next definition
 * behind us.
 */
#include "wrap/record/pmpi/next.h"
#include "wrap/record/pmpi/slots.h"
#include "wrap/record/process/aside.h"
#include "wrap/record/process/image.h"
#include "wrap/record/process/presence.h"
#include "wrap/record/process/say.h"
#include "wrap/record/recorder.h"
#include "wrap/recorders.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct mpi_handles mpi_handles;

struct search {
    int nth; /* of the objects named libmpi...; counted down */
    char path[4096];
};

/* Only takes the name: the dynamic linker's locks are held here. */
static int search_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct search *search = context;
    const char *base = strrchr(info->dlpi_name, '/');
    if (strncmp(base ? base + 1 : info->dlpi_name, "libmpi", 6) != 0 || search->nth-- > 0)
        return 0;
    snprintf(search->path, sizeof search->path, "%s", info->dlpi_name);
    return 1;
}

/* The name, and what is found. */
struct wanted {
    const char *name;
    void *found;
};

/* Takes more stack than a thread of the program may have left. */
static void search_aside(void *context)
{
    struct wanted *wanted = context;
    for (int nth = 0;; nth++) {
        struct search search = {.nth = nth};
        if (!dl_iterate_phdr(search_object, &search))
            return;
        void *object = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
        void *found = object ? dlsym(object, wanted->name) : NULL;
        if (object)
            dlclose(object);
        Dl_info theirs, ours;
        if (found && !(dladdr(found, &theirs) && dladdr(&mpi_handles, &ours) && theirs.dli_fbase == ours.dli_fbase)) {
            wanted->found = found;
            return;
        }
    }
}

static void *search_objects(const char *name)
{
    struct wanted wanted = {.name = name};
    aside_run(search_aside, &wanted);
    return wanted.found;
}

static int missing(void)
{
    return MPI_ERR_OTHER;
}

static void *missing_say(const char *name)
{
    static int said;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        say("the MPI library of this program has no %s: calls of it fail with MPI_ERR_OTHER", name);
    return (void *)missing;
}

static void *find(void *where, const char *name)
{
    int saved_errno = errno;
    void *found = dlsym(where, name);
    if (!found)
        found = search_objects(name);
    errno = saved_errno;
    return found;
}

void *next_find(const char *name)
{
    void *found = find(RTLD_NEXT, name);
    return found ? found : missing_say(name);
}

void *next_find_pmpi(const char *name)
{
    void *found = find(RTLD_DEFAULT, name);
    return found ? found : missing_say(name);
}

void *next_find_data(const char *name)
{
    return find(RTLD_DEFAULT, name);
}

enum interface {
#define ENUMERATE(interface, name, library) INTERFACE_##interface,
    RECORDERS(ENUMERATE) N_INTERFACES
};
static const struct {
    const char *name, *library;
} recorders[N_INTERFACES] = {
#define ROW(interface, name, library) {name, library},
    RECORDERS(ROW)};
static const enum interface our_interface = ABI_COLUMN(INTERFACE_OPEN_MPI, INTERFACE_MPICH, INTERFACE_STANDARD_ABI);

/* An MPI has version -1 of the standard's interface in the library with its own. Open MPI's symbol is behind both. */
static enum interface interface_of_process(void)
{
    int major = -1, minor = -1;
    int (*version)(int *, int *) = (int (*)(int *, int *))next_find_data("PMPI_Abi_get_version");
    if (version && version(&major, &minor) == MPI_SUCCESS && major > 0)
        return INTERFACE_STANDARD_ABI;
    return next_find_data("ompi_mpi_comm_world") ? INTERFACE_OPEN_MPI : INTERFACE_MPICH;
}

const char *next_own_interface(void)
{
    return recorders[our_interface].name;
}

const char *next_fitting_recorder(void)
{
    return recorders[interface_of_process()].library;
}

static int load_handles(void)
{
    if (interface_of_process() != our_interface)
        return -1;
    mpi_handles = (struct mpi_handles){
#define ABI_HANDLE(field, type, name, open_mpi, mpich, standard)                                                       \
    .field = (type)(uintptr_t)ABI_COLUMN(next_find_data(#open_mpi), mpich, standard),
#include "wrap/record/pmpi/abi.def"
    };
    return mpi_handles.comm_world && mpi_handles.byte && mpi_handles.request_null ? 0 : -1;
}

int next_load_handles(void)
{
    static bool is_loaded;
    presence_tell();
    if (!is_loaded && load_handles() != 0)
        return -1;
    is_loaded = true;
    return 0;
}

struct shadowed {
    const char *object, *function; /* the first one found */
    unsigned n;                    /* functions */
    bool is_program;               /* the object is the program itself, not a library */
};

/* In the global scope, where a program that does not define a function but takes its address may be found as well. */
static void look_up(const char *name, const void *own, struct shadowed *found)
{
    void *first = dlsym(RTLD_DEFAULT, name);
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    const struct link_map *map = NULL;
    if (!first || first == own || !dladdr1(first, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol ||
        symbol->st_shndx == SHN_UNDEF)
        return;
    if (!found->n++) {
        found->is_program = dladdr1(first, &info, (void **)&map, RTLD_DL_LINKMAP) && map && !map->l_name[0];
        found->object = info.dli_fname;
        found->function = name;
    }
}

static struct shadowed find_shadowed(void)
{
    static const char *const names[] = {
#define WW_MPI(name, class, coll) "MPI_" #name,
#include "wrap/mpi_calls.def"
#undef WW_MPI
    };
    struct shadowed found = {0};
    int saved_errno = errno;
    Dl_info ours;
    void *ourselves = dladdr(&mpi_handles, &ours) ? dlopen(ours.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    for (size_t i = 0; ourselves && i < sizeof names / sizeof *names; i++) {
        const void *own = dlsym(ourselves, names[i]);
        if (own)
            look_up(names[i], own, &found);
    }
    if (ourselves)
        dlclose(ourselves);
    errno = saved_errno;
    return found;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *advice(const struct shadowed *found)
{
    return found->is_program ? "a tool that is linked into the program: link without it, or its shared library"
                             : "preload it behind libwhywait, as `whywait record` does";
}

void next_note_shadowed(void)
{
    struct shadowed found = find_shadowed();
    if (found.n)
        say_note("%s takes %s ahead of the recorder (%u MPI functions in all): calls that it passes on as PMPI are "
                 "not recorded (%s)",
                 base_name(found.object), found.function, found.n, advice(&found));
}

/* Faults of pages in children that have ended: they grow with each. */
static long faults_of_children(void)
{
    struct rusage children;
    return getrusage(RUSAGE_CHILDREN, &children) == 0 ? children.ru_minflt : -1;
}

/* An image of this process before this one may have had children: `whywait record` asks the loader. */
static long faults_before;
static __attribute__((constructor)) void begin(void)
{
    faults_before = faults_of_children();
}

/* Of the process that `whywait record` became, and that has run no others, which might have been the ones meant. */
static bool is_the_program(void)
{
    return presence_is_first() && faults_of_children() == faults_before;
}

static int see_closed(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    *(bool *)context = info->dlpi_subs > 0;
    return 1;
}

/* Of the objects that this process has opened, some are gone: MPI may be one of them. */
static bool has_closed_objects(void)
{
    bool has_closed = false;
    dl_iterate_phdr(see_closed, &has_closed);
    return has_closed;
}

void next_tell_unseen(void)
{
    int saved_errno = errno, flag = 0;
    bool was_cut = false;
    const char *before = image_before(&was_cut);
    struct shadowed init = {0};
    if (presence_is_told() || !say_is_first_rank())
        return;
    int (*initialized)(int *) = (int (*)(int *))next_find_data("PMPI_Initialized"); /* also where it is private */
    bool mpi_was_used = initialized && initialized(&flag) == MPI_SUCCESS && flag;
    look_up("MPI_Init", (void *)MPI_Init, &init);
    if (recorder.init_ns)
        say("nothing was recorded: %s ended inside MPI_Init", program_invocation_short_name);
    else if (init.n && mpi_was_used)
        say("nothing was recorded: %s takes MPI_Init ahead of the recorder and passes it on as PMPI_Init (%s)",
            base_name(init.object), advice(&init));
    else if (mpi_was_used)
        say("nothing was recorded: %s called MPI past the recorder, since it looked MPI_Init up in the MPI library "
            "itself (dlsym with a handle of it, or dlopen with RTLD_DEEPBIND): link what calls MPI with the MPI "
            "library, and open that without RTLD_DEEPBIND",
            program_invocation_short_name);
    else if (was_cut)
        say("the program has become %s (exec) without calling MPI_Finalize; what it did before that is in %s",
            program_invocation_short_name, before);
    else if (!before && is_the_program() && has_closed_objects())
        say("nothing was recorded: %s has not called MPI_Init, or it called MPI past the recorder (dlsym) and has "
            "closed "
            "that library since (put `whywait record` right before the program that calls MPI, and link that with the "
            "MPI library)",
            program_invocation_short_name);
    else if (!before && is_the_program())
        say("nothing was recorded: %s has not called MPI_Init (put `whywait record` right before the program that "
            "does)",
            program_invocation_short_name);
    else if (!before && presence_is_first() && presence_nobody_came())
        say("nothing was recorded: no process that %s started has called MPI_Init with the recorder in it; a script or "
            "`env` that sets or clears LD_PRELOAD takes the recorder out (put `whywait record` behind it, right before "
            "the program)",
            program_invocation_short_name);
    errno = saved_errno;
}

static void *next_of(const struct slot *slot, void *context)
{
    (void)context;
    bool is_mpi = strncmp(slot->name, "MPI_", 4) == 0 || strncmp(slot->name, "mpi_", 4) == 0;
    return is_mpi ? dlsym(RTLD_NEXT, slot->name) : NULL;
}

void next_unhook(void)
{
    slots_rewrite(next_of, NULL);
}
