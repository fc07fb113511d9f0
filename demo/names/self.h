/* SPDX-License-Identifier: GPL-2.0-or-later */
unsigned library_work(unsigned n);
unsigned plugin_work(unsigned n);
