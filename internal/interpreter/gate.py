"""The first thing that a would-be interpreter is asked: what are you?

The host starts it as `PYTHON -I -B -c GATE NONCE`. This file must stay readable
for Python 2.7, so that an old interpreter gives its version and not a syntax
error. One that is good enough goes on with probe.py, which comes on stdin.

The answer may follow whatever a site file prints. It starts with a NUL and the
nonce, which nothing else prints: a wrapper that echoes its arguments knows the
nonce, but no argument can hold a NUL. Then come two lengths and a newline, then
fields (name NUL value NUL, as the bytes of the file system, so that any path
crosses exactly), then the compiled child.
"""

import os
import sys


def implementation():
    if hasattr(sys, "implementation"):
        return sys.implementation.name
    return "pypy" if "__pypy__" in sys.builtin_module_names else "cpython"


def read_all():
    chunks = []
    while True:
        chunk = os.read(0, 1 << 20)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)


def answer(fields, code):
    # Python 2 has no fsencode, and its text is bytes already.
    encode = getattr(os, "fsencode", str)
    report = b"".join(encode(text) + b"\0" for field in fields for text in field)
    head = "\0%s %d %d\n" % (sys.argv[1], len(report), len(code))
    rest = encode(head) + report + code
    while rest:
        rest = rest[os.write(1, rest):]
    # Nothing that a site file left for the end of the process matters here.
    os._exit(0)


def main():
    fields = [
        ("implementation", implementation()),
        ("version", "%d.%d.%d" % tuple(sys.version_info[:3])),
    ]
    if implementation() != "cpython" or sys.version_info < (3, 9):
        answer(fields, b"")
    probe, modules = read_all().split(b"\0", 1)
    namespace = {"__name__": "probe"}
    exec(compile(probe, "probe.py", "exec"), namespace)
    more, code = namespace["probe"](modules)
    answer(fields + more, code)


main()
