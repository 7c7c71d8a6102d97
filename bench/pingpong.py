"""What calls are measured against: json on both sides of a socket pair, and nothing else."""

import json
import os
import sys
import time


def call(i):
    os.write(3, json.dumps({"id": i, "args": {"n": i, "text": "some text"}}).encode() + b"\n")
    return json.loads(os.read(3, 65536))


def main(count):
    for i in range(100):
        call(i)
    start = time.perf_counter()
    for i in range(count):
        call(i)
    print((time.perf_counter() - start) / count)


main(int(sys.argv[1]))
