/*
 * A program with libraries, one of which it loads itself, exceptions, threads
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <cstdio>
#include <dlfcn.h>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern "C" __attribute__((noinline)) int descend(int n)
{
    if (n == 0) {
        throw std::runtime_error("bottom");
    }
    return descend(n - 1) + n;
}

extern "C" __attribute__((noinline)) int attempt(int n)
{
    try {
        return descend(n);
    } catch (std::runtime_error &e) {
        return std::string(e.what()).size() + n;
    }
}

int main()
{
    std::map<std::string, int> names;
    std::vector<std::thread> threads;
    int sum = 0;
    double roots = 0;
    void *library;

    for (int i = 0; i < 10; i++) {
        sum += attempt(i);
    }
    for (int i = 0; i < 300; i++) {
        names["name " + std::to_string(i)] = i;
    }
    for (int i = 0; i < 3; i++) {
        threads.emplace_back([] {
            for (int k = 0; k < 5; k++) {
                attempt(k);
            }
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    library = dlopen("libm.so.6", RTLD_NOW);
    if (!library) {
        return 1;
    }
    auto root = (double (*)(double))dlsym(library, "cbrt");
    for (int i = 0; i < 100; i++) {
        roots += root(i);
    }
    dlclose(library);
    printf("%d %zu %.3f\n", sum, names.size(), roots);
    return 0;
}
