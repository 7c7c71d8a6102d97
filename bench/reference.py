"""What runs and the child's codec are measured against, in one interpreter.

The child's compiled modules come first on standard input, a line with their size
before them, so that what they import is imported here too. Next comes a document of
JSON, likewise. Then each line is the name of something to do, how often, and what to
count by, wall or processor; the answer is what all of it took, in seconds.
"""

import json
import marshal
import os
import resource
import sys
import time

PROGRAM = "return_value = 1"


def load(modules):
    """Execute the child's modules as start.py does."""
    for name, is_package, code in modules:
        if isinstance(code, bytes):
            continue  # what a child loads only when a program has failed
        module = type(sys)(name)
        module.__package__ = name if is_package else name.rpartition(".")[0]
        if is_package:
            module.__path__ = []
        sys.modules[name] = module
        exec(code, module.__dict__)


def fork():
    """Make one round of what no start of a child can do without."""
    pid = os.fork()
    if pid == 0:
        exec(compile(PROGRAM, "program.py", "exec"), {})
        os._exit(0)
    os.waitpid(pid, 0)


def codec_against_json(text):
    """Return the two ways to read and to write a document, by name."""
    codec = sys.modules["thirdrail_child.codec"]
    document = json.loads(text)
    return {
        "json.dumps": lambda: json.dumps(document),
        "encode": lambda: codec.encode(document, "exact", 1 << 30),
        "json.loads": lambda: json.loads(text),
        "decode": lambda: codec.decode(text, "exact"),
    }


def processor_time():
    """Return what this process and its children have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def main():
    """Load the child, and do what standard input says until it ends."""
    lines = sys.stdin.buffer

    def part():
        return lines.read(int(lines.readline()))

    load(marshal.loads(part())[1:])
    import asyncio  # noqa: F401
    import gc

    ways = {"fork": fork, **codec_against_json(part())}
    clocks = {"wall": time.perf_counter, "processor": processor_time}
    gc.collect()
    gc.freeze()
    for line in lines:
        name, count, clock_name = line.decode().split()
        do, clock = ways[name], clocks[clock_name]
        start = clock()
        for _ in range(int(count)):
            do()
        print(clock() - start, flush=True)


main()
