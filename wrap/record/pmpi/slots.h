/* SPDX-License-Identifier: BSD-3-Clause */
/* The slots through which loaded objects call functions of other objects, as the dynamic linker has filled them. */
#pragma once

struct slot {
    const char *object; /* path of the object that calls; "" = the program itself */
    const char *name;   /* of the function */
    void *now;          /* where calls go */
};

/* Asks for each slot of each loaded object where its calls shall go: NULL = as before. Takes the dynamic linker's
 * lock; objects that are loaded later keep their own slots. */
void slots_rewrite(void *(*choose)(const struct slot *slot, void *context), void *context);
