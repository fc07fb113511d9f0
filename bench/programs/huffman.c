/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Huffman's codes: built by a heap, applied, and undone by a tree */
#include "program.h"

#define SYMBOLS 64
#define LENGTH 3000

typedef struct Node {
    uint32_t weight;
    int16_t child[2];       /* -1: a leaf */
} Node;

static Node nodes[2 * SYMBOLS];
static int heap[SYMBOLS + 1], heap_size;
static uint32_t code[SYMBOLS];
static uint8_t length[SYMBOLS];
static uint8_t text[LENGTH], packed[LENGTH * 4];

static void down(int i)
{
    int node = heap[i];

    while (2 * i <= heap_size) {
        int child = 2 * i;

        if (child < heap_size &&
            nodes[heap[child + 1]].weight < nodes[heap[child]].weight) {
            child++;
        }
        if (nodes[node].weight <= nodes[heap[child]].weight) {
            break;
        }
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = node;
}

static void assign(int node, uint32_t bits, int depth)
{
    if (nodes[node].child[0] < 0) {
        code[node] = bits;
        length[node] = depth;
        return;
    }
    assign(nodes[node].child[0], bits << 1, depth + 1);
    assign(nodes[node].child[1], bits << 1 | 1, depth + 1);
}

static int build(void)
{
    int n = SYMBOLS;

    for (int i = 0; i < SYMBOLS; i++) {
        nodes[i] = (Node){ 1, { -1, -1 } };
        heap[i + 1] = i;
    }
    for (int i = 0; i < LENGTH; i++) {
        nodes[text[i]].weight += 4;
    }
    heap_size = SYMBOLS;
    for (int i = heap_size / 2; i > 0; i--) {
        down(i);
    }
    while (heap_size > 1) {
        int a = heap[1], b;

        heap[1] = heap[heap_size--];
        down(1);
        b = heap[1];
        nodes[n] = (Node){ nodes[a].weight + nodes[b].weight, { a, b } };
        heap[1] = n++;
        down(1);
    }
    assign(heap[1], 0, 0);
    return heap[1];
}

static int pack(void)
{
    int at = 0;

    memset(packed, 0, sizeof(packed));
    for (int i = 0; i < LENGTH; i++) {
        for (int bit = length[text[i]] - 1; bit >= 0; bit--, at++) {
            if (code[text[i]] >> bit & 1) {
                packed[at >> 3] |= 1 << (at & 7);
            }
        }
    }
    return at;
}

static int unpack_equal(int root, int bits)
{
    int node = root, n = 0;

    for (int at = 0; at < bits; at++) {
        node = nodes[node].child[packed[at >> 3] >> (at & 7) & 1];
        if (nodes[node].child[0] < 0) {
            if (text[n++] != node) {
                return 0;
            }
            node = root;
        }
    }
    return n == LENGTH;
}

const uint32_t program_sum = 0x1e84a52c;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int round = 0; round < 4; round++) {
        int root, bits;

        for (int i = 0; i < LENGTH; i++) {
            uint32_t r = next_random();

            text[i] = (r >> 8 & r >> 20) % SYMBOLS;
        }
        root = build();
        bits = pack();
        sum = mix(mix(sum, bits), unpack_equal(root, bits));
    }
    return sum;
}
