/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a command gives an interpreter a script to run, and which: that is the program for whoever typed it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct script_word {
    const char *at;
    size_t n; /* 0 = there are no more */
};

static inline struct script_word script_next_word(struct script_word word)
{
    const char *at = word.at + word.n;
    at += strspn(at, " ");
    return (struct script_word){at, strcspn(at, " ")};
}

static inline bool script_word_is(struct script_word word, const char *text)
{
    return word.n == strlen(text) && strncmp(word.at, text, word.n) == 0;
}

/* The first word from here on that is a source file, or none. */
static inline struct script_word script_first_source(struct script_word word)
{
    for (; word.n; word = script_next_word(word))
        if (word.n > 3 && strncmp(word.at + word.n - 3, ".py", 3) == 0)
            return word;
    return (struct script_word){NULL, 0};
}

/* "python3 -u app.py 10", run by /usr/bin/python3.11: "app.py". "python3 -m solver": "solver"; a module that runs a
 * script (python3 -m mpi4py app.py) is not the program. None: n is 0. */
static inline struct script_word script_of_command(const char *program, const char *command)
{
    const char *slash = strrchr(program, '/');
    struct script_word none = {NULL, 0}, word = {command, 0};
    if (strncmp(slash ? slash + 1 : program, "python", strlen("python")) != 0)
        return none;
    for (word = script_next_word(script_next_word(word)); word.n && *word.at == '-'; word = script_next_word(word)) {
        if (script_word_is(word, "-c") || script_word_is(word, "-"))
            return none;
        if (script_word_is(word, "-m")) {
            struct script_word module = script_next_word(word), source = script_first_source(module);
            return source.n ? source : module;
        }
        if (script_word_is(word, "-W") || script_word_is(word, "-X"))
            word = script_next_word(word);
    }
    return word.n ? word : none;
}
