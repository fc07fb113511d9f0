/*
 * Calculate terms, and count those that are none: a program of the demo, in
 * C++ with templates and exceptions
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

/* Wherever in a term it is noticed */
struct NoTerm : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* Sums of products of numbers and of sums in parentheses */
template <typename Number> class Calculator {
public:
    explicit Calculator(const std::string &term) : at(term.c_str()) { }

    Number value()
    {
        Number n = sum();

        if (*at) {
            throw NoTerm("it goes on behind its end");
        }
        return n;
    }

private:
    const char *at;

    Number sum()
    {
        Number n = product();

        while (*at == '+' || *at == '-') {
            n = *at++ == '+' ? n + product() : n - product();
        }
        return n;
    }

    Number product()
    {
        Number n = factor();

        while (*at == '*') {
            at++;
            n = n * factor();
        }
        return n;
    }

    Number factor()
    {
        if (*at == '(') {
            at++;

            Number n = sum();

            if (*at++ != ')') {
                throw NoTerm("a parenthesis is open");
            }
            return n;
        }
        if (*at < '0' || *at > '9') {
            throw NoTerm("there is no number");
        }
        return number();
    }

    Number number()
    {
        Number n = 0;

        while (*at >= '0' && *at <= '9') {
            n = n * 10 + (*at++ - '0');
        }
        return n;
    }
};

template <typename Number>
static Number total(const std::vector<std::string> &terms, unsigned &bad)
{
    Number n = 0;

    for (const auto &term : terms) {
        try {
            n = n + Calculator<Number>(term).value();
        } catch (const NoTerm &) {
            bad++;
        }
    }
    return n;
}

static unsigned choose(unsigned n)
{
    static unsigned seed = 1;

    seed = seed * 1664525 + 1013904223;
    return (seed >> 16) % n;
}

static std::string make_term(unsigned depth)
{
    if (!depth) {
        return choose(1000) ? std::to_string(choose(1000)) : "?";
    }

    auto left = make_term(depth - 1), right = make_term(depth - 1);

    return "(" + left + "+-*"[choose(3)] + right + ")";
}

int main(int argc, char **argv)
{
    std::vector<std::string> terms;
    unsigned bad = 0;

    for (int n = argc > 1 ? atoi(argv[1]) : 1000; n; n--) {
        terms.push_back(make_term(4));
    }

    for (int round = 0; round < 4; round++) {
        auto exact = total<unsigned long>(terms, bad);
        auto about = total<double>(terms, bad);

        printf("%lu, about %g; %u are no terms\n", exact, about, bad);
    }
    return 0;
}
