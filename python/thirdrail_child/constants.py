"""What both sides of the wire must agree on, byte for byte.

The Go side has the same two in package wire, and wire/mirror_test.go runs this
module to compare them. It imports nothing, so that the child can load it first
and at no cost.
"""

PROTOCOL_FD = 3


def log_truncation_marker(max_log_bytes: int) -> str:
    """Return the log entry that stands for all output over a budget of max_log_bytes."""
    return f"[thirdrail] log capture truncated at {max_log_bytes} bytes"
