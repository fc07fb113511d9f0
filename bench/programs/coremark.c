/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list that is searched and sorted, a matrix, a state machine, a CRC */
#include "program.h"

#define ITEMS 60
#define SIZE 12

typedef struct Item {
    struct Item *next;
    int16_t key;
    int16_t index;
} Item;

typedef int (*Compare)(const Item *a, const Item *b);

static Item items[ITEMS];
static int16_t a[SIZE][SIZE], b[SIZE][SIZE];
static int32_t c[SIZE][SIZE];

static uint16_t crc16(uint16_t crc, uint16_t value)
{
    for (int i = 0; i < 16; i++) {
        int carry = (crc ^ value) & 1;

        crc >>= 1;
        value >>= 1;
        if (carry) {
            crc ^= 0xa001;
        }
    }
    return crc;
}

static int by_key(const Item *x, const Item *y)
{
    return x->key - y->key;
}

static int by_index(const Item *x, const Item *y)
{
    return x->index - y->index;
}

static Item *merge(Item *x, Item *y, Compare compare)
{
    Item head, *last = &head;

    while (x && y) {
        Item **from = compare(x, y) <= 0 ? &x : &y;

        last->next = *from;
        last = *from;
        *from = last->next;
    }
    last->next = x ? x : y;
    return head.next;
}

static Item *sort(Item *list, Compare compare)
{
    Item *slow = list, *fast;

    if (!list || !list->next) {
        return list;
    }
    for (fast = list->next; fast && fast->next; fast = fast->next->next) {
        slow = slow->next;
    }
    fast = slow->next;
    slow->next = NULL;
    return merge(sort(list, compare), sort(fast, compare), compare);
}

static Item *reverse(Item *list)
{
    Item *done = NULL;

    while (list) {
        Item *next = list->next;

        list->next = done;
        done = list;
        list = next;
    }
    return done;
}

static Item *find(Item *list, int key)
{
    while (list && list->key != key) {
        list = list->next;
    }
    return list;
}

static uint16_t lists(uint16_t crc, int round)
{
    Item *list = NULL;

    for (int i = 0; i < ITEMS; i++) {
        items[i] = (Item){ list, next_random() % 100, i };
        list = &items[i];
    }
    for (int key = 0; key < 20; key++) {
        Item *item = find(list, key + round % 50);

        list = reverse(list);
        crc = crc16(crc, item ? item->index : key);
    }
    list = sort(list, by_key);
    crc = crc16(crc, list->key);
    list = sort(list, by_index);
    return crc16(crc, list->key);
}

static uint16_t matrices(uint16_t crc, int round)
{
    int32_t sum = 0;

    for (int i = 0; i < SIZE; i++) {
        for (int j = 0; j < SIZE; j++) {
            a[i][j] = i * j + round;
            b[i][j] = i - j * 3 + round;
        }
    }
    for (int i = 0; i < SIZE; i++) {
        for (int j = 0; j < SIZE; j++) {
            c[i][j] = 0;
            for (int k = 0; k < SIZE; k++) {
                c[i][j] += a[i][k] * b[k][j];
            }
            sum += c[i][j] > 1000 ? 10 : c[i][j] & 7;
        }
    }
    return crc16(crc, sum);
}

typedef enum State { START, SIGN, INT, POINT, EXPONENT, BAD, N_STATES } State;

static State scan(const char **text)
{
    State state = START;

    for (; **text && **text != ','; (*text)++) {
        char ch = **text;
        int digit = ch >= '0' && ch <= '9';

        switch (state) {
        case START:
            state = digit ? INT : ch == '+' || ch == '-' ? SIGN :
                    ch == '.' ? POINT : BAD;
            break;
        case SIGN:
            state = digit ? INT : ch == '.' ? POINT : BAD;
            break;
        case INT:
            state = digit ? INT : ch == '.' ? POINT :
                    ch == 'e' ? EXPONENT : BAD;
            break;
        case POINT:
            state = digit ? POINT : ch == 'e' ? EXPONENT : BAD;
            break;
        case EXPONENT:
            state = digit || ch == '-' ? EXPONENT : BAD;
            break;
        default:
            break;
        }
    }
    if (**text) {
        (*text)++;
    }
    return state;
}

static uint16_t states(uint16_t crc)
{
    static const char text[] = "5012,1.2e3,-874,+122,+35.54e-5,T0.3,-T.T++Tq,"
        "1T3.4e4z,34.0e-T^,.1234500,-110.700,+0.64400,7e,,8.5.5,1234567";
    uint16_t count[N_STATES] = { 0 };

    for (const char *p = text; *p;) {
        count[scan(&p)]++;
    }
    for (int i = 0; i < N_STATES; i++) {
        crc = crc16(crc, count[i]);
    }
    return crc;
}

const uint32_t program_sum = 0x00002f70;

uint32_t program(void)
{
    uint16_t crc = 0;

    for (int round = 0; round < 50; round++) {
        crc = lists(crc, round);
        crc = matrices(crc, round);
        crc = states(crc);
    }
    return crc;
}
