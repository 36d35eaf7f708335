/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/stack/pages.h"
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static const unsigned char *page_of(struct stack_pages *pages, uint64_t page)
{
    for (unsigned i = 0; i < pages->n; i++)
        if (pages->at[i] == page)
            return pages->bytes[i];
    if (pages->n == PAGES_MAX)
        return NULL;
    struct iovec to = {pages->bytes[pages->n], PAGES_BYTES}, from = {(void *)(uintptr_t)page, PAGES_BYTES};
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != PAGES_BYTES)
        return NULL;
    pages->at[pages->n] = page;
    return pages->bytes[pages->n++];
}

bool pages_read(struct stack_pages *pages, uint64_t address, uint64_t *value)
{
    uint64_t offset = address % PAGES_BYTES;
    if (offset > PAGES_BYTES - sizeof *value)
        return false;
    const unsigned char *bytes = page_of(pages, address - offset);
    if (!bytes)
        return false;
    memcpy(value, bytes + offset, sizeof *value);
    return true;
}
