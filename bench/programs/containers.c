/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A balanced tree, a hash table, a queue, two sorts */
#include "program.h"

#define N 300

typedef struct Node {
    struct Node *child[2];
    uint32_t priority;
    int key;
} Node;

typedef struct Entry {
    struct Entry *next;
    int key, value;
} Entry;

static Node pool[N];
static Entry entries[N], *buckets[64];
static int queue[N + 1], heap[N];

static Node *rotate(Node *node, int side)
{
    Node *up = node->child[side];

    node->child[side] = up->child[!side];
    up->child[!side] = node;
    return up;
}

static Node *insert(Node *root, Node *node)
{
    int side;

    if (!root) {
        return node;
    }
    if (root->key == node->key) {
        return root;
    }
    side = node->key > root->key;
    root->child[side] = insert(root->child[side], node);
    if (root->child[side]->priority > root->priority) {
        return rotate(root, side);
    }
    return root;
}

static const Node *search(const Node *root, int key)
{
    while (root && root->key != key) {
        root = root->child[key > root->key];
    }
    return root;
}

static int visit(const Node *root, uint32_t *sum)
{
    int left, right;

    if (!root) {
        return 0;
    }
    left = visit(root->child[0], sum);
    *sum = mix(*sum, root->key);
    right = visit(root->child[1], sum);
    return (left > right ? left : right) + 1;
}

static Entry **bucket(int key)
{
    return &buckets[((uint32_t)key * 0x9e3779b1u) >> 26];
}

static Entry *lookup(int key)
{
    Entry *entry = *bucket(key);

    while (entry && entry->key != key) {
        entry = entry->next;
    }
    return entry;
}

static void sift(int i, int n)
{
    for (;;) {
        int child = 2 * i + 1, t;

        if (child >= n) {
            return;
        }
        if (child + 1 < n && heap[child + 1] > heap[child]) {
            child++;
        }
        if (heap[i] >= heap[child]) {
            return;
        }
        t = heap[i];
        heap[i] = heap[child];
        heap[child] = t;
        i = child;
    }
}

static void heap_sort(int n)
{
    for (int i = n / 2; i >= 0; i--) {
        sift(i, n);
    }
    while (n-- > 1) {
        int t = heap[0];

        heap[0] = heap[n];
        heap[n] = t;
        sift(0, n);
    }
}

/* Sorts by splitting from one end of a ring to the other */
static int rounds_of_queue(int n)
{
    int head = 0, tail = n, rounds = 0;

    while (head != tail) {
        int a = queue[head];

        head = (head + 1) % (N + 1);
        rounds++;
        if (a > 1) {
            queue[tail] = a / 3;
            tail = (tail + 1) % (N + 1);
        }
    }
    return rounds;
}

const uint32_t program_sum = 0xed832973;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int round = 0; round < 6; round++) {
        Node *root = NULL;
        int found = 0;

        memset(buckets, 0, sizeof(buckets));
        for (int i = 0; i < N; i++) {
            int key = next_random() % 1000;
            Entry *entry = lookup(key);

            pool[i] = (Node){ { NULL, NULL }, next_random(), key };
            root = insert(root, &pool[i]);
            if (!entry) {
                entry = &entries[i];
                *entry = (Entry){ *bucket(key), key, 0 };
                *bucket(key) = entry;
            }
            entry->value++;
            queue[i] = heap[i] = key;
        }
        for (int key = 0; key < 1000; key++) {
            const Entry *entry = lookup(key);

            found += search(root, key) ? entry->value : entry != NULL;
        }
        sum = mix(sum, found);
        found = visit(root, &sum);
        sum = mix(sum, found);
        heap_sort(N);
        sum = mix(sum, heap[N / 2]);
        sum = mix(sum, rounds_of_queue(N));
    }
    return sum;
}
