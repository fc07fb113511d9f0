/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CRC of Ethernet, by a table */
#include "program.h"

static uint32_t table[256];

static void make_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;

        for (int bit = 0; bit < 8; bit++) {
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
        }
        table[i] = crc;
    }
}

static uint32_t update(uint32_t crc, uint8_t byte)
{
    return table[(crc ^ byte) & 0xff] ^ crc >> 8;
}

const uint32_t program_sum = 0x711a2933;

uint32_t program(void)
{
    uint32_t crc = 0xffffffff;

    make_table();
    for (int i = 0; i < 40000; i++) {
        crc = update(crc, next_random() >> 9);
    }
    return ~crc;
}
