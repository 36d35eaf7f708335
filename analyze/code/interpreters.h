/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that an interpreter runs. Its routines and loops say nothing of them: all of it is one place. The libraries
 * that it loads on their behalf are called as they are imported there, and their routines as they are called there.
 */
#pragma once
#include "analyze/code/image.h"
#include "analyze/code/routines.h"
#include "wrap/base/containers.h"

/* The language that this program or library interprets: "Python"; NULL = it is no interpreter. */
const char *interpreter_language(const char *path);
/* The whole file as one routine, "(Python code)". In `arena`. */
struct routines interpreter_as_routine(const struct image *image, const char *language, struct arena *arena);

/* Names the routines that have no name, or one that Cython made up, as Python code calls them. A module has a table of
 * its methods (PyMethodDef), which no strip takes away. Names live as long as the image. */
void extension_name_methods(const struct image *image, struct routines *routines);
