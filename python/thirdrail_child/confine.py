"""Applies the confinement of the boot frame to this process, before the program.

The host composes it as data: package confine declares the same object as Go
structs and says what each part means. Every part is applied or raises; nothing is
left out in silence. What it stops is tried afterwards, see proof.py.
"""

from __future__ import annotations

import posix
from binascii import a2b_base64 as _a2b_base64
from sys import byteorder as _byteorder

import resource as _resource

from thirdrail_child.native import System

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Tuple

    Policy = Dict[str, Any]


# macOS lacks these, and nothing there comes as far as to need them.
_O_CLOEXEC: int = getattr(posix, "O_CLOEXEC", 0)
_O_PATH: int = getattr(posix, "O_PATH", 0)


class ConfinementError(Exception):
    """A part of the confinement could not be applied. The text names it."""


def confine(policy: Policy) -> System:
    """Apply the policy, part by part. Raise ConfinementError for the first that fails."""
    try:
        system = System(posix.uname().machine)
    except (ImportError, KeyError, OSError) as error:
        raise ConfinementError(f"system calls: {error!r}") from None
    apply(system, policy)
    return system


def apply(system: System, policy: Policy) -> None:
    """Apply the policy by way of a system that is there already."""
    for name, part in _PARTS:
        if not policy.get(name):
            continue
        try:
            part(system, policy[name])
        except (OSError, ValueError) as error:
            raise ConfinementError(f"{name}: {error}") from None


def _integer(value: int, size: int) -> bytes:
    return value.to_bytes(size, _byteorder)


# From linux/mount.h.
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 8, 1 << 12, 1 << 14, 1 << 18
_MNT_DETACH = 2
_NEW_MOUNTS = 0x20000  # CLONE_NEWNS
_S_IFREG = 0o100000  # from linux/stat.h
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000


def _make_root(system: System, root: Dict[str, Any]) -> None:
    """Make the root and the workspace, and leave the old root behind."""
    # With the host's umask, the user that the child becomes might not get in.
    inherited = posix.umask(0o022)
    try:
        _make_root_openly(system, root)
    finally:
        posix.umask(inherited)


def _make_root_openly(system: System, root: Dict[str, Any]) -> None:
    call = system.call
    at = root["at"]
    call("mount", None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    call("mount", b"tmpfs", at.encode(), b"tmpfs", _MS_NOSUID | _MS_NODEV, b"mode=755,size=1m")
    made = {"/"}
    inside: Tuple[str, ...] = ()
    for mount in root.get("mounts", ()):
        _mount(system, at, mount, made, inside)
        if mount.get("folder"):
            inside += (mount["path"] + "/",)
    for path, target in root.get("links", ()):
        _make_folder(at, _parent(path), made)
        try:
            posix.symlink(target, at + path)
        except FileExistsError:
            pass  # a folder made for a mount
    for path, content in root.get("programs", ()):
        program = posix.open(at + path, posix.O_CREAT | posix.O_EXCL | posix.O_WRONLY | _O_CLOEXEC, 0o555)
        posix.write(program, _a2b_base64(content))
        posix.close(program)
    _make_folder(at, root["home"], made)
    posix.chdir(at)
    call("pivot_root", b".", b".")
    call("umount2", b".", _MNT_DETACH)
    posix.chdir("/")
    _set_attributes(system, "/", False, _ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV)


def _make_workspace(system: System, workspace: Dict[str, Any]) -> None:
    """Mount the file system of the private folder, with its size as a limit, and enter the folder.

    What says who the user is lies beside the folder, so that this is empty.
    """
    path, owner = workspace["path"], workspace["owner"]
    around = _parent(path)
    if workspace.get("own"):  # the mounts are shared with others until now
        system.call("unshare", _NEW_MOUNTS)
    options = f"mode=755,size={workspace['diskBytes']},nr_inodes={workspace['files']}"
    system.call("mount", b"tmpfs", around.encode(), b"tmpfs", _MS_NOSUID | _MS_NODEV, options.encode())
    for name, text in workspace.get("texts", ()):
        file = posix.open(around + "/" + name, posix.O_CREAT | posix.O_EXCL | posix.O_WRONLY | _O_CLOEXEC, 0o444)
        posix.fchmod(file, 0o444)  # whatever the umask
        posix.write(file, text.encode())
        posix.close(file)
    for folder in (path, path + "/tmp"):
        posix.mkdir(folder, 0o700)
        posix.chown(folder, owner["id"], owner["group"])
    posix.chdir(path)


def _mount(system: System, at: str, mount: Dict[str, Any], made: "set[str]", inside: "Tuple[str, ...]") -> None:
    path = mount["path"]
    target = at + path
    # What lies in a folder that is mounted exists there.
    if not path.startswith(inside):
        if mount.get("folder"):
            _make_folder(at, path, made)
        else:
            _make_folder(at, _parent(path), made)
            try:
                posix.mknod(target, _S_IFREG | 0o444)
            except FileExistsError:
                pass  # mounted before, with other rights
    system.call("mount", path.encode(), target.encode(), None, _MS_BIND | _MS_REC, None)
    attributes = _ATTR_NOSUID
    if not path.startswith("/dev/"):
        attributes |= _ATTR_NODEV
    if not mount.get("write"):
        attributes |= _ATTR_RDONLY
    _set_attributes(system, target, True, attributes)


def _set_attributes(system: System, path: str, recursive: bool, attributes: int) -> None:
    # struct mount_attr: set, clear, propagation, user namespace.
    structure = _integer(attributes, 8) + bytes(24)
    system.call("mount_setattr", _AT_FDCWD, path.encode(), _AT_RECURSIVE if recursive else 0, structure, len(structure))


def _parent(path: str) -> str:
    return path[: path.rindex("/")] or "/"


def _make_folder(at: str, path: str, made: "set[str]") -> None:
    if path in made:
        return
    _make_folder(at, _parent(path), made)
    try:
        posix.mkdir(at + path, 0o755)
    except FileExistsError:
        pass
    made.add(path)


def _become(system: System, user: Dict[str, Any]) -> None:
    posix.setgroups([])
    posix.setresgid(user["group"], user["group"], user["group"])
    posix.setresuid(user["id"], user["id"], user["id"])
    # A change of user forgets this.
    system.call("prctl", _PR_SET_PDEATHSIG, 9, 0, 0, 0)


# From linux/prctl.h and linux/capability.h.
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_CAPABILITY_VERSION = 0x20080522


def _drop_capabilities(system: System, wanted: bool) -> None:
    system.call("capset", _integer(_CAPABILITY_VERSION, 4) + bytes(4), bytes(24))
    system.call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    system.call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)


_RULE_PATH_BENEATH = 1


def make_ruleset(system: System, rules: Dict[str, Any]) -> int:
    """Return the descriptor of a ruleset, which `restrict` applies in any number of processes."""
    attribute = b"".join(_integer(rules[name], 8) for name in ("files", "network", "scopes"))
    # A kernel takes a longer structure than it knows when the rest is zero.
    ruleset = system.call("landlock_create_ruleset", attribute, len(attribute), 0)
    for rule in rules["paths"]:
        try:
            folder = posix.open(rule["path"], _O_PATH | _O_CLOEXEC)
        except FileNotFoundError:
            continue  # nothing there to allow
        beneath = _integer(rule["access"], 8) + _integer(folder, 4)
        system.call("landlock_add_rule", ruleset, _RULE_PATH_BENEATH, beneath, 0)
        posix.close(folder)
    return ruleset


def _apply_landlock(system: System, rules: Dict[str, Any]) -> None:
    ruleset = make_ruleset(system, rules)
    _restrict(system, ruleset)
    posix.close(ruleset)


def _restrict(system: System, ruleset: int) -> None:
    system.call("landlock_restrict_self", ruleset, 0)


def _close_others(system: System, first: int) -> None:
    system.call("close_range", first, 0xFFFFFFFF, 0)


def _apply_limits(system: System, limits: "List[Tuple[int, int]]") -> None:
    for number, most in limits:
        for inherited in _resource.getrlimit(number):
            if inherited != _resource.RLIM_INFINITY:
                most = min(most, inherited)
        _resource.setrlimit(number, (most, most))


_SECCOMP_SET_MODE_FILTER, _SECCOMP_FLAG_SPEC_ALLOW = 1, 4


def _filter_calls(system: System, calls: Dict[str, Any]) -> None:
    program = bytearray(calls["program"] if type(calls["program"]) is bytes else _a2b_base64(calls["program"]))
    own = _integer(posix.getpid(), 4)
    for offset in calls["own"] or ():
        program[offset : offset + 4] = own
    # struct sock_fprog: the number of instructions, padding, their address.
    structure = _integer(len(program) // 8, 8) + _integer(system.address(program), 8)
    system.call("seccomp", _SECCOMP_SET_MODE_FILTER, _SECCOMP_FLAG_SPEC_ALLOW, structure)


# In this order: each part still needs what a later one takes away.
_PARTS: "Tuple[Tuple[str, Callable[[System, Any], None]], ...]" = (
    ("root", _make_root),
    ("workspace", _make_workspace),
    ("user", _become),
    ("dropCapabilities", _drop_capabilities),
    ("landlock", _apply_landlock),
    ("ruleset", _restrict),
    ("closeFrom", _close_others),
    ("limits", _apply_limits),
    ("calls", _filter_calls),
)
