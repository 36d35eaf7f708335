/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/exchanges.h"
#include "analyze/waits/matching.h"
#include <stdlib.h>

static void moved_add(struct moved *moved, uint64_t bytes)
{
    moved->least = moved->n && moved->least < bytes ? moved->least : bytes;
    moved->most = moved->most > bytes ? moved->most : bytes;
    moved->bytes += bytes;
    moved->n++;
}

/* Distances that are met first have a place, others are counted together. */
static void add_partner(struct site_exchange *site, int64_t distance)
{
    uint32_t at = 0;
    while (at < site->n_partners && site->partners[at].distance != distance)
        at++;
    if (at == EXCHANGE_PARTNERS) {
        site->n_others++;
        return;
    }
    if (at == site->n_partners)
        site->partners[site->n_partners++].distance = distance;
    site->partners[at].n++;
}

void exchanges_feed(struct exchanges *exchanges, const struct trace *trace, const struct lane *lane,
                    const struct event *event)
{
    bool is_message =
        event->kind == EV_SEND || event->kind == EV_ISEND || event->kind == EV_RECV || event->kind == EV_IRECV_DONE;
    if ((!is_message && event->kind != EV_COLL_END) || !lane->depth || lane->is_off)
        return;
    if (lane->site >= exchanges->sites.n)
        vec_resize(&exchanges->sites, (size_t)lane->site + 1);
    struct site_exchange *site = &exchanges->sites.at[lane->site];
    if (!is_message) {
        moved_add(&site->collectives, event->bytes);
        if (event->comm < trace->n_comms && trace->comms[event->comm].n > site->n_members)
            site->n_members = trace->comms[event->comm].n;
        return;
    }
    uint32_t peer = messages_peer(trace, event->comm, lane->rank, event->peer);
    if (peer == TRACE_NONE)
        return;
    moved_add(&site->messages, event->bytes);
    add_partner(site, (int64_t)peer - lane->rank);
}

static int by_falling_n(const void *a, const void *b)
{
    const struct exchange_partner *left = a, *right = b;
    if (left->n != right->n)
        return left->n > right->n ? -1 : 1;
    return (left->distance > right->distance) - (left->distance < right->distance);
}

void exchanges_write(const struct exchanges *exchanges, const struct classes *classes, const struct measures *measures,
                     struct analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->n_sites; i++) {
        uint32_t site = classes->sites.at[measures->site_order[i]].site;
        if (site >= exchanges->sites.n)
            continue;
        analysis->sites[i].exchange = exchanges->sites.at[site];
        qsort(analysis->sites[i].exchange.partners, analysis->sites[i].exchange.n_partners,
              sizeof(struct exchange_partner), by_falling_n);
    }
}

void exchanges_release(struct exchanges *exchanges)
{
    vec_release(&exchanges->sites);
}
