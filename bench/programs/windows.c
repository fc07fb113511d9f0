/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control of a car's window: state charts made to code */
#include "program.h"

typedef enum Move { STOPPED, OPENING, CLOSING, BLOCKED } Move;
typedef enum Child { UNLOCKED, LOCKED, ARMED } Child;

typedef struct Input {
    uint8_t up, down, automatic, lock, current;
} Input;

typedef struct Window {
    Move move;
    Child child;
    int position, timer, motor;
    uint8_t held, error;
} Window;

static Window window[4];

static void child_lock(Window *w, const Input *in)
{
    switch (w->child) {
    case UNLOCKED:
        if (in->lock) {
            w->child = ARMED;
            w->timer = 3;
        }
        break;
    case ARMED:
        if (!in->lock) {
            w->child = UNLOCKED;
        } else if (--w->timer == 0) {
            w->child = LOCKED;
        }
        break;
    case LOCKED:
        if (!in->lock && !in->up && !in->down) {
            w->child = UNLOCKED;
        }
        break;
    }
}

static void moving(Window *w, const Input *in)
{
    switch (w->move) {
    case STOPPED:
        w->motor = 0;
        if (w->child == LOCKED || w->error) {
            break;
        }
        if (in->up && !in->down && w->position < 100) {
            w->move = CLOSING;
            w->held = 0;
        } else if (in->down && !in->up && w->position > 0) {
            w->move = OPENING;
            w->held = in->automatic;
        }
        break;
    case OPENING:
        w->motor = -2;
        if (w->position <= 0 || (!w->held && !in->down) || in->up) {
            w->move = STOPPED;
        }
        break;
    case CLOSING:
        w->motor = 1;
        if (in->current > 40) {
            w->move = BLOCKED;
            w->timer = 8;
        } else if (w->position >= 100 || (!in->automatic && !in->up)) {
            w->move = STOPPED;
        }
        break;
    case BLOCKED:
        w->motor = -2;
        if (--w->timer <= 0 || w->position <= 0) {
            w->move = STOPPED;
            w->error = w->position > 90;
        }
        break;
    }
}

static void plant(Window *w)
{
    w->position += w->motor;
    if (w->position < 0) {
        w->position = 0;
        w->error = 0;
    } else if (w->position > 100) {
        w->position = 100;
    }
    if (w->error && w->timer-- < -20) {
        w->error = 0;
    }
}

const uint32_t program_sum = 0x256e2d67;

uint32_t program(void)
{
    uint32_t sum = 0;

    for (int tick = 0; tick < 6000; tick++) {
        uint32_t r = next_random();

        for (int i = 0; i < 4; i++, r >>= 8) {
            static Input in[4];

            if (tick % (7 + i) == 0) {
                in[i].up = r & 1;
                in[i].down = (r & 6) == 2;
                in[i].automatic = r >> 3 & 1;
                in[i].lock = (r & 0x30) == 0x10;
                in[i].current = (r & 0xc0) == 0xc0 ? 50 : 10;
            }
            child_lock(&window[i], &in[i]);
            moving(&window[i], &in[i]);
            plant(&window[i]);
        }
        if (tick % 16 == 0) {
            sum = mix(sum, window[tick / 16 % 4].position);
        }
    }
    return sum;
}
