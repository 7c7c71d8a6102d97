"""Print what thirdrail_child/protocol.py declares, as JSON, for the mirror test.

Usage: python3 -I -B mirror.py DIRECTORY-OF-THE-PACKAGE BUDGET...

Each frame becomes the JSON schema that the Go side makes of its struct. What this
script does not know how to describe is an error, so that nothing goes unseen.
"""

import json
import sys
import typing

sys.path.insert(0, sys.argv[1])
from thirdrail_child import protocol  # noqa: E402


def is_typed_dict(annotation):
    return isinstance(annotation, type) and hasattr(annotation, "__required_keys__")


def schema(annotation):
    plain = {str: "string", int: "integer", bool: "boolean"}
    if annotation is typing.Any:
        return {}
    if annotation in plain:
        return {"type": plain[annotation]}
    if is_typed_dict(annotation):
        return object_schema(annotation)
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin is typing.Union:
        return {"anyOf": [schema(a) for a in arguments]}
    if origin is list:
        return {"type": "array", "items": schema(arguments[0])}
    if origin is dict and arguments == (str, typing.Any):
        return {"type": "object"}
    raise TypeError(f"no schema for {annotation!r}")


def object_schema(declared):
    fields = typing.get_type_hints(declared)
    assert fields.keys() == declared.__required_keys__ | declared.__optional_keys__, declared
    return {
        "title": declared.__name__,
        "type": "object",
        "properties": {name: schema(a) for name, a in fields.items()},
        "required": sorted(declared.__required_keys__),
    }


def shapes(frame):
    """The TypedDicts of a frame: one, or those of a union."""
    return typing.get_args(frame) or (frame,)


def frame_type(shape):
    (name,) = typing.get_args(typing.get_type_hints(shape)["type"])
    return name


def direction(frames):
    found = {}
    for frame in frames:
        names = {frame_type(shape) for shape in shapes(frame)}
        assert len(names) == 1, names
        (name,) = names
        assert name not in found, f"{name} is listed twice"
        found[name] = [schema(shape) for shape in shapes(frame)]
    return found


def unlisted(frames):
    """Frames that the module declares and does not list."""
    listed = {shape.__name__ for side in frames.values() for f in side for shape in shapes(f)}
    for name, declared in vars(protocol).items():
        if name.startswith("_") or not is_typed_dict(declared):
            continue
        if "type" in typing.get_type_hints(declared) and name not in listed:
            yield name


print(
    json.dumps(
        {
            "python": sys.version.split()[0],
            "frames": {side: direction(frames) for side, frames in protocol.FRAMES.items()},
            "unlisted": sorted(unlisted(protocol.FRAMES)),
            "protocolFD": protocol.PROTOCOL_FD,
            "markers": [protocol.log_truncation_marker(int(budget)) for budget in sys.argv[2:]],
        }
    )
)
