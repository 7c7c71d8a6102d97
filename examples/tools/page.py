"""A tool for `thirdrail run --tool`: arguments on stdin, the result on stdout.

It returns page n of some rows, and refuses a page that isn't there. What a
failing tool writes to stderr last is what the program sees.
"""

import json
import sys

PAGES = {1: [{"id": 1}, {"id": 2}, {"id": 3}], 2: [{"id": 4}]}

n = json.load(sys.stdin).get("n")
if n not in PAGES:
    sys.exit(f"there is no page {n!r}: the pages are 1 and 2")
json.dump(PAGES[n], sys.stdout)
