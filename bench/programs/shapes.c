/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects with tables of functions */
#include "program.h"

typedef struct Shape Shape;

typedef struct Class {
    int (*area)(const Shape *shape);
    int (*inside)(const Shape *shape, int x, int y);
    void (*move)(Shape *shape, int dx, int dy);
} Class;

struct Shape {
    const Class *class;
    int x, y, w, h;
    Shape *part[2];
};

static int box_area(const Shape *s)
{
    return s->w * s->h;
}

static int box_inside(const Shape *s, int x, int y)
{
    return x >= s->x && x < s->x + s->w && y >= s->y && y < s->y + s->h;
}

static int disc_area(const Shape *s)
{
    return s->w * s->w * 355 / 113;
}

static int disc_inside(const Shape *s, int x, int y)
{
    return (x - s->x) * (x - s->x) + (y - s->y) * (y - s->y) <= s->w * s->w;
}

static int corner_area(const Shape *s)
{
    return s->w * s->h / 2;
}

static int corner_inside(const Shape *s, int x, int y)
{
    return box_inside(s, x, y) &&
           (x - s->x) * s->h + (y - s->y) * s->w < s->w * s->h;
}

static void simple_move(Shape *s, int dx, int dy)
{
    s->x += dx;
    s->y += dy;
}

static int pair_area(const Shape *s)
{
    return s->part[0]->class->area(s->part[0]) +
           s->part[1]->class->area(s->part[1]);
}

static int pair_inside(const Shape *s, int x, int y)
{
    return s->part[0]->class->inside(s->part[0], x, y) ||
           s->part[1]->class->inside(s->part[1], x, y);
}

static void pair_move(Shape *s, int dx, int dy)
{
    s->part[0]->class->move(s->part[0], dx, dy);
    s->part[1]->class->move(s->part[1], -dx, dy);
}

static const Class classes[] = {
    { box_area, box_inside, simple_move },
    { disc_area, disc_inside, simple_move },
    { corner_area, corner_inside, simple_move },
    { pair_area, pair_inside, pair_move },
};

const uint32_t program_sum = 0x6334f227;

uint32_t program(void)
{
    static Shape shapes[40];
    uint32_t sum = 0;

    for (int i = 0; i < 40; i++) {
        uint32_t r = next_random();

        shapes[i] = (Shape){ &classes[i < 8 ? r % 3 : r % 4], r >> 8 & 63,
                             r >> 14 & 63, (r >> 20 & 15) + 1,
                             (r >> 24 & 15) + 1, { NULL, NULL } };
        if (i >= 8) {
            shapes[i].part[0] = &shapes[i % 8];
            shapes[i].part[1] = &shapes[i - 4];
        }
    }
    for (int round = 0; round < 150; round++) {
        int hits = 0, area = 0;

        for (int i = 0; i < 40; i++) {
            Shape *s = &shapes[i];

            hits += s->class->inside(s, round % 64, round * 7 % 64);
            area += s->class->area(s);
            if (round % 4 == 0) {
                s->class->move(s, (i & 3) - 1, (round & 7) - 4);
            }
        }
        sum = mix(mix(sum, hits), area);
    }
    return sum;
}
