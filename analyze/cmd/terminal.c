/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/cmd/terminal.h"
#include "analyze/cmd/options.h"
#include "analyze/cmd/program.h"
#include "wrap/base/err.h"
#include "wrap/launcher.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return 110;
}

bool terminal_option(struct terminal_options *options, int option)
{
    static const char *const words[] = {[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};
    if (option == OPT_NO_PAGER)
        options->no_pager = true;
    if (option != OPT_COLOR)
        return option == OPT_NO_PAGER;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(optarg, words[i])) {
            options->color = i;
            return true;
        }
    die("--color: \"%s\" is neither auto, always nor never", optarg);
}

struct look terminal_look(const struct terminal_options *options)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    bool is_terminal = isatty(STDOUT_FILENO) && !launcher_gives_terminals(), is_dumb = !term || !strcmp(term, "dumb");
    struct look look = {.has_colour = options->color == COLOR_ALWAYS ||
                                      (options->color == COLOR_AUTO && is_terminal && !is_dumb && (!none || !*none))};
    if (is_terminal || options->color == COLOR_ALWAYS) {
        /* Can the user's locale show blocks? Asked of a locale of its own, so that nothing else changes. */
        locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
        bool is_utf8 = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
        look.drawing = is_utf8 ? DRAW_UTF8 : DRAW_ASCII;
        if (locale)
            freelocale(locale);
    }
    return look;
}

/* NULL: none is wanted, or none is there. */
static const char *pager_command(void)
{
    const char *const wanted[] = {getenv("WHYWAIT_PAGER"), getenv("PAGER")};
    char path[PATH_MAX];
    for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (wanted[i])
            return *wanted[i] && strcmp(wanted[i], "cat") != 0 ? wanted[i] : NULL;
    return program_find("less", path) ? "less" : NULL;
}

int pager_begin(const struct terminal_options *options)
{
    const char *command =
        options->no_pager || !isatty(STDOUT_FILENO) || launcher_gives_terminals() ? NULL : pager_command();
    int ends[2];
    fflush(stdout);
    if (!command || pipe(ends))
        return 0;
    pid_t pager = fork();
    if (pager == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("LESS", "FRX", false);
        setenv("LV", "-c", false);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[0]);
    if (pager > 0)
        dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    return pager > 0 ? pager : 0;
}

void pager_end(int pager)
{
    if (!pager)
        return;
    fflush(stdout);
    int nowhere = open("/dev/null", O_WRONLY); /* the pager sees the end only when nobody holds its pipe */
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    else
        close(STDOUT_FILENO);
    while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
        continue;
}
