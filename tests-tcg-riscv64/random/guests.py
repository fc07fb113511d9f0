#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Random guests: what is decoded is what retired. See --help.

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)

import case as cases                            # noqa: E402
import run_case                                 # noqa: E402
import selftest                                 # noqa: E402
import shrink                                   # noqa: E402
from tap import Tap                             # noqa: E402

OUT = os.path.abspath(os.environ.get(
    'OUT', f'{run_case.BUILD}/check/random'))
JOBS = int(os.environ.get('JOBS') or os.cpu_count())


# Exceptions and interrupts can lead a program back for ever, or keep a hart
# from its end until the others give up. That says nothing about the trace; it
# is counted.
ENDLESS = ('endless', 'guest')


def build_tools():
    """The plugin and what compares, built if need be: where they are"""
    subprocess.run(['make', '-s', '-C', HERE, f'OUT={OUT}'], check=True,
                   stdout=sys.stderr)
    return OUT


def attempt(case, folder, tools):
    """(instructions, None), or (0, what is wrong)"""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(f'{folder}/case.json', 'w', encoding='ascii') as file:
        json.dump(case, file, indent=1)
    try:
        return run_case.run(case, folder, tools), None
    except run_case.Failure as failure:
        return 0, failure
    except Exception as error:  # pylint: disable=broad-except
        return 0, run_case.Failure('test', repr(error))


def smaller(case, kind, folder, tools, seconds):
    """A smaller case that fails like that, and its files"""
    times = 1 if case['machine']['harts'] == 1 and not case['events'] else 4

    def fails(candidate):
        for _ in range(times):
            with tempfile.TemporaryDirectory(dir=OUT) as scratch:
                failure = attempt(candidate, f'{scratch}/run', tools)[1]
            if failure and failure.kind == kind:
                return True
        return False

    best = shrink.Shrinker(case, fails, seconds).run()
    for _ in range(4 * times):
        failure = attempt(best, folder, tools)[1]
        if failure:
            return best, failure
    return best, None


def job(case, folder, tools, shrink_seconds):
    """Runs it; (instructions, None), or (0, report) and files in the folder"""
    count, failure = attempt(case, folder, tools)
    if not failure:
        shutil.rmtree(folder)
        return count, None
    report = [f'seed {case["seed"]}: {failure}',
              f'machine: {case["machine"]}', f'files: {folder}',
              f'again: {os.path.relpath(__file__)} run --case '
              f'{os.path.relpath(folder)}/case.json']
    if failure.kind in ENDLESS:
        shutil.rmtree(folder)
        return 0, ['endless']
    if shrink_seconds and failure.kind != 'build':
        best, again = smaller(case, failure.kind, f'{folder}-small', tools,
                              shrink_seconds)
        small = f'{os.path.relpath(folder)}-small'
        if again:
            report += [f'smaller: {os.path.relpath(__file__)} run --case '
                       f'{small}/case.json',
                       f'  {again}', *summary(best)]
        else:
            report.append('it does not always fail')
    return 0, report


def summary(case):
    """What is left in a case that was made small"""
    lines = []
    for index, function in enumerate(case['program']['functions']):
        if function['elements']:
            names = ' '.join(name for name, _ in function['elements'])
            lines.append(f'  function {index}: {names}')
    for hart, regions in enumerate(case['program']['harts']):
        for region in regions:
            names = ' '.join(name for name, _ in region['elements'])
            lines.append(f'  hart {hart}: {region["mode"]} {region["satp"]} '
                         f'{region["loops"]} times: {names}')
    machine = case['machine']
    lines.append('  machine: ' + ' '.join(
        f'{name}={value}' for name, value in machine.items()
        if value != shrink.PLAIN.get(name)))
    if case['events']:
        lines.append(f'  events: {case["events"]}')
    return lines


def read_case(path):
    with open(path, encoding='ascii') as file:
        return json.load(file)


def command_run(options):
    tools = build_tools()
    if options.case:
        todo = [read_case(options.case)]
    else:
        todo = [cases.make(options.seed, options.only, options.long)]
    folder = f'{OUT}/run-{os.getpid()}'
    for _ in range(options.times):
        count, report = job(todo[0], folder, tools,
                            options.shrink if options.shrink else 0)
        if report:
            print('\n'.join(report))
            return 1
        print(f'{count} instructions are the same')
    return 0


def self_test(tap, tools):
    """The first test"""
    folder = f'{OUT}/selftest'
    shutil.rmtree(folder, ignore_errors=True)
    try:
        found = selftest.run(folder, tools)
    except run_case.Failure as failure:
        tap.say(False, 'comparison', f'{failure}; see {folder}')
        return
    shutil.rmtree(folder)
    tap.say(True, f'comparison: {found} of {found} differences are found')


def command_check(options):
    """Fixed seeds; speaks TAP"""
    tools = build_tools()
    tap = Tap()
    with open(f'{HERE}/seeds', encoding='ascii') as lines:
        groups = [line.split() for line in lines
                  if line.strip() and not line.startswith('#')]
    share = 4 if options.some else 1
    groups = [words for words in groups
              if not options.group or words[0] in options.group]
    total = programs = 0
    with concurrent.futures.ProcessPoolExecutor(JOBS) as pool:
        jobs = [(words[0], [
            pool.submit(job, cases.make(seed, words[3:]),
                        f'{OUT}/{words[0]}-{seed}', tools, options.shrink)
            for seed in range(int(words[1]), int(words[2]), share)])
            for words in groups]
        if not options.group:
            self_test(tap, tools)
        for name, runs in jobs:
            count, endless, wrong = 0, 0, []
            for run in runs:
                instructions, report = run.result()
                count += instructions
                if report == ['endless']:
                    endless += 1
                else:
                    wrong += report or []
            # one may be among few
            if endless > max(1, len(runs) // 5):
                wrong.append('too few programs come to an end')
            total += count
            programs += len(runs) - endless
            tap.say(not wrong, f'{name}: {len(runs) - endless} programs, '
                    f'{count} instructions', *wrong)
    print(f'# {programs} programs, {total} instructions')
    tap.end()


def command_soak(options):
    """New seeds until the time is over; failures are kept"""
    tools = build_tools()
    end = time.monotonic() + options.hours * 3600
    seed = options.seed if options.seed is not None else int(time.time()) << 20
    first = seed
    programs = instructions = failures = endless = 0
    last = time.monotonic()
    running = set()
    with concurrent.futures.ProcessPoolExecutor(JOBS) as pool:
        def more():
            return (time.monotonic() < end and
                    seed - first < options.programs and
                    not (options.first and failures))

        while running or more():
            while len(running) < 2 * JOBS and more():
                running.add(pool.submit(
                    job, cases.make(seed, options.only, long=True),
                    f'{OUT}/{seed}', tools, options.shrink))
                seed += 1
            done, running = concurrent.futures.wait(
                running, 5, concurrent.futures.FIRST_COMPLETED)
            for item in done:
                count, report = item.result()
                programs += 1
                instructions += count
                endless += report == ['endless']
                if report and report != ['endless']:
                    failures += 1
                    print('\n'.join(report), flush=True)
                    with open(f'{OUT}/failures', 'a',
                              encoding='utf-8') as file:
                        file.write('\n'.join(report) + '\n\n')
            if time.monotonic() - last >= 60:
                last = time.monotonic()
                print(f'{programs} programs, {instructions} instructions '
                      f'verified, {failures} failures', flush=True)
    print(f'seeds {first} to {seed - 1}: {programs} programs, {instructions} '
          f'instructions verified, {failures} failures; {endless} programs '
          'did not come to an end')
    return 1 if failures or not programs else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest='command', required=True)
    run = commands.add_parser('run', help='one case')
    run.add_argument('--seed', type=int)
    run.add_argument('--case', metavar='FILE')
    run.add_argument('--times', type=int, default=1)
    run.add_argument('--long', action='store_true', help='as soak has it')
    soak = commands.add_parser('soak', help='new seeds for some hours')
    soak.add_argument('--hours', type=float, required=True)
    soak.add_argument('--seed', type=int, help='the first one')
    soak.add_argument('--programs', type=int, default=1 << 62,
                      help='no more than these')
    soak.add_argument('--first', action='store_true',
                      help='stop at the first failure')
    check = commands.add_parser('check', help='the seeds of make check')
    check.add_argument('--some', action='store_true',
                       help='every fourth seed of a group')
    check.add_argument('group', nargs='*', help='not all of them')
    for command in (run, soak):
        command.add_argument('--only', action='append', default=[],
                             metavar='NAME=VALUE',
                             help='what the machine is to have, see case.py')
    for command, seconds in ((run, 0), (soak, 180), (check, 120)):
        command.add_argument('--shrink', type=int, default=seconds,
                             metavar='SECONDS',
                             help='how long to make a failing case smaller')
    options = parser.parse_args()
    os.makedirs(OUT, exist_ok=True)
    return {'run': command_run, 'soak': command_soak,
            'check': command_check}[options.command](options)


if __name__ == '__main__':
    sys.exit(main())
