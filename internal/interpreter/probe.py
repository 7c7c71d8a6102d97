"""What the host needs to know of an interpreter before it starts children with it.

gate.py executes this file and calls probe. It also compiles the child's modules
here, with the very interpreter that will run them, so that each child only
unmarshals code and nothing is written to disk.
"""

from __future__ import annotations

import builtins
import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    # These take as long to import as the rest of the probe does to run.
    from types import CodeType
    from typing import List, Tuple, Union

    Compiled = List[Tuple[str, bool, Union[CodeType, bytes]]]
    Fields = List[Tuple[str, str]]

# The child can't work without these. A Python built without some library, or
# one cut down for a container, may lack them.
NEEDED = ("_json", "_thread", "fcntl", "marshal", "posix", "resource", "select")


# The files of modules that a child loads only when a program has failed, see later.py.
LATER = b"hints"


def compile_child(modules: bytes) -> Compiled:
    """Compile the modules of a sequence of name, file and source, each ended by a NUL.

    The code of those for later is marshalled by itself, so that a child that doesn't
    need it has no work with it.
    """
    texts = modules.split(b"\0")[:-1]
    compiled = []
    for name, file, source in zip(texts[0::3], texts[1::3], texts[2::3]):
        code = compile(source, "<thirdrail>/" + file.decode(), "exec", dont_inherit=True, optimize=2)
        is_later = file.startswith(LATER)
        compiled.append((name.decode(), file == b"__init__.py", marshal.dumps(code) if is_later else code))
    return compiled


def load_child(compiled: Compiled) -> None:
    """Execute the modules as start.py does, to see that they load and what they weigh."""
    for name, is_package, code in compiled:
        module = type(sys)(name)
        names = module.__dict__
        names["__package__"] = name if is_package else name.rpartition(".")[0]
        names["__builtins__"] = dict(builtins.__dict__)
        if is_package:
            names["__path__"] = []
        sys.modules[name] = module
        exec(marshal.loads(code) if isinstance(code, bytes) else code, names)


def importable(name: str) -> bool:
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def virtual_bytes() -> int:
    """Return the size of this process's address space, 0 where /proc doesn't tell."""
    try:
        with open("/proc/self/statm", "rb") as statm:
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def probe(modules: bytes) -> Tuple[Fields, bytes]:
    """Return what there is to say of this interpreter, and the child compiled by it."""
    fields = [
        ("executable", sys.executable or ""),
        ("prefix", sys.prefix),
        ("base_prefix", sys.base_prefix),
        ("exec_prefix", sys.exec_prefix),
        ("bits", "64" if sys.maxsize > 2**32 else "32"),
    ]
    fields += [("sys_path", entry) for entry in sys.path]
    missing = [("missing", name) for name in NEEDED if not importable(name)]
    if missing:
        return fields + missing, b""
    compiled = compile_child(modules)
    load_child(compiled)
    # Measured before _ctypes is tried, which not every child loads.
    fields.append(("bare_bytes", str(virtual_bytes())))
    fields.append(("ctypes", "yes" if importable("_ctypes") else "no"))
    return fields, marshal.dumps(compiled)
