/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/other_side.h"

/* Terms of the class that has most of it. */
static struct sparse terms_of(const struct causes *causes, const struct cause_sums *sums)
{
    const struct sparse *classes = &sums->waiting.classes;
    const struct term *most = NULL;
    for (size_t i = 0; i < classes->n; i++)
        most = most && most->ns >= classes->at[i].ns ? most : &classes->at[i];
    return most ? causes_class(causes->input, most->key)->terms : (struct sparse){0};
}

/* How long they were in the cause's own code, per time of the late side. */
static double meanwhile_of(const struct causes *causes, const struct cause_sums *sums, const struct sparse *terms)
{
    double late_ns = 0, waiting_ns = 0;
    for (size_t i = 0; i < terms->n; i++) {
        uint64_t key = terms->at[i].key;
        const struct step_key *step = steps_key(causes->steps, key_atom(key));
        if (step->what != WHAT_PLACE || step->state != STEP_COMPUTING ||
            !(sparse_get(&sums->by_code, atom_key(key_rank(key), step->id)) > 0))
            continue;
        *(key & KEY_WAITING ? &waiting_ns : &late_ns) += terms->at[i].ns;
    }
    return late_ns > 0 ? waiting_ns / late_ns : 0;
}

/* The code in which they were longer than the late side by most, and by how much per time that the late side was
 * longer in other code. Time without a CPU is in no code. */
static void instead_write(const struct causes *causes, const struct sparse *terms, struct cause *cause)
{
    struct sparse net = {0};
    double longer_ns = 0, less_ns = 0;
    for (size_t i = 0; i < terms->n; i++) {
        uint32_t step = key_atom(terms->at[i].key);
        if (steps_key(causes->steps, step)->state != STEP_DESCHEDULED)
            sparse_add(&net, steps_base(causes->steps, step),
                       terms->at[i].key & KEY_WAITING ? -terms->at[i].ns : terms->at[i].ns);
    }
    sparse_pack(&net);
    for (size_t i = 0; i < net.n; i++) {
        longer_ns += net.at[i].ns > 0 ? net.at[i].ns : 0;
        if (net.at[i].ns < less_ns) {
            less_ns = net.at[i].ns;
            cause->instead = (uint32_t)net.at[i].key;
        }
    }
    cause->instead_share = longer_ns > 0 ? -less_ns / longer_ns : 0;
    sparse_release(&net);
}

void other_side_write(const struct causes *causes, const struct cause_sums *sums, struct cause *cause)
{
    struct sparse terms = terms_of(causes, sums);
    cause->meanwhile = meanwhile_of(causes, sums, &terms);
    instead_write(causes, &terms, cause);
}
