"""Reads what `go test -json` printed: shows what failed, and fails for a skip.

A test may skip only for what this kind of machine can't give. Each reason is
named here, with the words that the skip's message must have.
"""

import json
import sys

ALLOWED_SKIPS = (
    "short mode",
    "needs Python",  # a case for a newer Python than the one at hand
    "race detector",  # allocations can't be counted under it
    "takes the whole 5 s",
    "not tried",  # an attack that would hurt the machine where nothing confines it
)


def main(path):
    output = {}
    count = {"pass": 0, "fail": 0, "skip": 0}
    bad = []
    packages = []
    slow = []
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            try:
                event = json.loads(line)
            except ValueError:
                print(line, end="")
                continue
            key = (event.get("Package"), event.get("Test"))
            action = event.get("Action")
            if action in ("output", "build-output"):
                output.setdefault(key, []).append(event.get("Output", ""))
            elif action in count:
                if event.get("Test"):
                    count[action] += 1
                    if "/" not in event["Test"]:
                        slow.append((event.get("Elapsed", 0), event["Test"]))
                else:
                    packages.append(f"{action} {event.get('Package')} {event.get('Elapsed', 0):.0f}s")
                text = "".join(output.pop(key, []))
                if action == "fail":
                    print(f"--- {key[0]} {key[1] or ''}\n{text[-6000:]}")
                elif action == "skip" and event.get("Test") and not event["Test"].startswith("Fuzz") and not any(s in text for s in ALLOWED_SKIPS):
                    bad.append(f"{key[0]} {key[1]}: {text.strip()}")
    for key, text in output.items():  # a package that didn't build
        if key[1] is None and key[0] is None:
            print("".join(text)[-6000:])
    print("\n".join(packages))
    print("the slowest:", ", ".join(f"{name} {seconds:.0f}s" for seconds, name in sorted(slow, reverse=True)[:25]))
    for line in bad:
        print(f"skipped, though this machine can run it: {line}")
    print(f"{count['pass']} passed, {count['fail']} failed, {count['skip']} skipped")
    return 1 if bad or count["fail"] or not count["pass"] else 0


sys.exit(main(sys.argv[1]))
