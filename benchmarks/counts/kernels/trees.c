/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary search tree: pointer chasing, calls in a loop. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *left, *right;
    unsigned key, n;
};

static struct node *insert(struct node **at, unsigned key)
{
    while (*at && (*at)->key != key)
        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    if (!*at) {
        *at = calloc(1, sizeof **at);
        (*at)->key = key;
    }
    (*at)->n++;
    return *at;
}

static unsigned long sum_of(const struct node *node)
{
    if (!node)
        return 0;
    return node->n * (unsigned long)(node->key % 7) + sum_of(node->left) + sum_of(node->right);
}

int main(void)
{
    struct node *root = NULL;
    unsigned state = 1;
    unsigned long sum = 0;
    for (int i = 0; i < 5000000; i++) {
        state = state * 1664525u + 1013904223u;
        sum += insert(&root, state >> 18)->n;
    }
    for (int i = 0; i < 300; i++)
        sum += sum_of(root);
    printf("%lu\n", sum);
    return 0;
}
