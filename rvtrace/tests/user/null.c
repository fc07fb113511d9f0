/*
 * A list, one of whose names was freed and is NULL: strlen() crashes, which is in
 * a shared library
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    char *name;
    struct node *next;
};

static struct node *make(const char *name, struct node *next)
{
    struct node *node = malloc(sizeof(*node));

    node->name = strdup(name);
    node->next = next;
    return node;
}

static __attribute__((noinline)) size_t total(const struct node *node)
{
    size_t sum = 0;

    for (; node; node = node->next) {
        sum += strlen(node->name);
    }
    return sum;
}

static __attribute__((noinline)) void drop(struct node *node)
{
    free(node->name);
    node->name = NULL;
}

int main(void)
{
    struct node *list = make("one", make("two", NULL));

    printf("%zu\n", total(list));
    drop(list->next);
    printf("%zu\n", total(list));
    return 0;
}
