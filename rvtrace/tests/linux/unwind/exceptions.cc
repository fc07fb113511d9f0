/*
 * C++: exceptions that are caught, thrown on and pass destructors, in several
 * threads that wait for each other
 *
 * exceptions ROUNDS
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline, noclone))

namespace {

constexpr unsigned threads = 4, max_depth = 9;

std::mutex lock;
std::condition_variable next;
unsigned turn;

class Walk;

struct Step {
    virtual ~Step() = default;
    virtual void walk(Walk &w) = 0;
};

class Walk {
public:
    explicit Walk(unsigned seed) : random(seed) {}
    unsigned pick(unsigned n);
    void any();
    void leaf();
    unsigned depth = 0;
    unsigned long sum = 0;

private:
    unsigned random;
};

NOINLINE unsigned Walk::pick(unsigned n)
{
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    return (random >> 8) % n;
}

NOINLINE void Walk::leaf()
{
    sum = sum * 5 + 1;
}

/* Its destructor runs where it is left, by whatever way. */
class Guard {
public:
    explicit Guard(Walk &walk) : w(walk) { w.depth++; }
    NOINLINE ~Guard()
    {
        w.depth--;
        for (unsigned n = w.pick(8); n; n--) {
            w.leaf();
        }
    }

private:
    Walk &w;
};

struct Nest : Step {
    NOINLINE void walk(Walk &w) override
    {
        Guard g(w);

        for (unsigned n = w.pick(3) + 1; n; n--) {
            w.any();
        }
    }
};

struct Throw : Step {
    NOINLINE void walk(Walk &w) override
    {
        Guard g(w);

        if (!w.pick(2)) {
            w.any();
        }
        switch (w.pick(3)) {
        case 0:
            throw std::runtime_error("some text that is not very short");
        case 1:
            throw w.pick(100);
        default:
            w.leaf();
        }
    }
};

struct Catch : Step {
    NOINLINE void walk(Walk &w) override
    {
        unsigned depth = w.depth;

        try {
            Guard g(w);

            w.any();
        } catch (const std::exception &e) {
            w.sum += std::string(e.what()).size();
            w.any();
        } catch (unsigned n) {
            w.leaf();
            if (n & 1) {
                throw;
            }
        }
        w.depth = depth;
    }
};

struct Call : Step {
    NOINLINE void walk(Walk &w) override
    {
        Guard g(w);
        std::function<void()> f = [&w] { w.any(); };
        std::vector<int> numbers(w.pick(9) + 1, 3);

        for (auto n : numbers) {
            w.sum += n;
        }
        f();
    }
};

struct Leaf : Step {
    NOINLINE void walk(Walk &w) override
    {
        for (unsigned n = w.pick(30); n; n--) {
            w.leaf();
        }
    }
};

NOINLINE void Walk::any()
{
    static const std::unique_ptr<Step> steps[] = {
        std::make_unique<Leaf>(), std::make_unique<Throw>(),
        std::make_unique<Nest>(), std::make_unique<Call>(),
        std::make_unique<Catch>(), std::make_unique<Catch>(),
    };

    steps[depth < max_depth ? pick(6) : 0]->walk(*this);
}

NOINLINE void go(Walk &w)
{
    try {
        w.any();
    } catch (...) {
        w.leaf();
    }
    w.depth = 0;
}

NOINLINE void wait_for_turn(unsigned number)
{
    std::unique_lock<std::mutex> l(lock);

    next.wait(l, [number] { return turn % threads == number; });
    turn++;
    next.notify_all();
}

void run(unsigned number, unsigned rounds)
{
    Walk w(number * 977 + 1);

    while (rounds--) {
        go(w);
        if (!(rounds & 15)) {
            wait_for_turn(number);
        }
    }
}

}

int main(int, char **argv)
{
    std::vector<std::thread> all;

    for (unsigned i = 0; i < threads; i++) {
        all.emplace_back(run, i, std::atoi(argv[1]) / threads & ~15u);
    }
    for (auto &t : all) {
        t.join();
    }
    return 0;
}
