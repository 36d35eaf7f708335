/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/stack/pages.h"
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

bool pages_read(struct stack_pages *pages, uint64_t address, uint64_t *value)
{
    uint64_t offset = address % PAGES_BYTES;
    if (offset > PAGES_BYTES - sizeof *value)
        return false;
    uint64_t page = address - offset;
    unsigned i = 0;
    while (i < pages->n && pages->at[i] != page)
        i++;
    if (i == PAGES_MAX)
        return false;
    if (i == pages->n) {
        struct iovec to = {pages->bytes[i], PAGES_BYTES}, from = {(void *)(uintptr_t)page, PAGES_BYTES};
        if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != PAGES_BYTES)
            return false;
        pages->at[pages->n++] = page;
    }
    memcpy(value, pages->bytes[i] + offset, sizeof *value);
    return true;
}
