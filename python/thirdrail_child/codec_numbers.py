"""Numbers as text and back, exactly, under both number profiles.

Python 3.11 and later (and security releases before) refuse to convert an int of more than sys.get_int_max_str_digits() digits to
text or back. That limit is the program's own guard, so it is left alone: longer ints are split into parts below the least limit
that can be set (640 digits) and put together by multiplication.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional

# Ints of at most this many bits, and texts of at most this many digits, convert directly whatever limit the program has set.
_DIRECT_BITS = 2000
_DIRECT_DIGITS = 512

# From this many bits on, _decimal's fast multiplication repays the time to load it.
_DECIMAL_BITS = 150_000

# A part of this many bits becomes a Decimal in one step.
_DECIMAL_PART_BITS = 2048

# The decimal digits in a bit, log10(2), rounded down so that a bound made with it stays one.
_DIGITS_PER_BIT = (301_029, 1_000_000)

# The largest magnitude up to which each int is a double.
EXACT_DOUBLE_LIMIT = 1 << 53


def digits_at_least(number: int) -> int:
    """Return a lower bound of the length of number as text, close to it and never above it."""
    bits = number.bit_length()
    if bits == 0:
        return 1
    numerator, denominator = _DIGITS_PER_BIT
    return (bits - 1) * numerator // denominator + 1 + (number < 0)


def fits_double(number: int) -> bool:
    """Tell whether a double holds number exactly, as 2**60 and 2**1023 do, and 2**53 + 1 and 2**1024 don't."""
    bits = number.bit_length()
    if bits <= 53:
        return True
    trailing_zeros = (number & -number).bit_length() - 1
    return bits <= 1024 and bits - trailing_zeros <= 53


def integer_text(number: int) -> str:
    """Return the decimal digits of number, of any size."""
    if number.bit_length() <= _DIRECT_BITS:
        return repr(number)
    if number < 0:
        return "-" + integer_text(-number)
    if number.bit_length() >= _DECIMAL_BITS:
        context = _decimal_context()
        if context is not None:
            return _text_by_decimal(number, context)
    return _text_by_division(number)


def _text_by_division(number: int) -> str:
    """Return the digits of a positive number, halved by powers of ten until each part converts directly."""
    powers: Dict[int, int] = {}
    width = _DIRECT_DIGITS
    while True:
        power = powers[width] = 10**width if width == _DIRECT_DIGITS else powers[width // 2] ** 2
        if power > number:
            break
        width *= 2
    parts: List[str] = []
    pending = [(number, width)]
    while pending:
        part, width = pending.pop()
        if width <= _DIRECT_DIGITS:
            parts.append(repr(part).zfill(width))
            continue
        high, low = divmod(part, powers[width // 2])
        pending.append((low, width // 2))
        pending.append((high, width // 2))
    return "".join(parts).lstrip("0")


def _decimal_context() -> Optional[Any]:
    """Return a decimal context of our own in which every int is exact, or None where _decimal can't be had.

    Each field is given, since a field left out would come from the program's decimal.DefaultContext.
    """
    try:
        from _decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_EVEN, Context
    except ImportError:
        return None
    return Context(
        prec=MAX_PREC, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX, capitals=1, clamp=0, flags=[], traps=[]
    )


def _text_by_decimal(number: int, context: Any) -> str:
    """Return the digits of a positive number, by way of exact decimal multiplication in context."""
    width = _DECIMAL_PART_BITS
    powers = {width: context.create_decimal(1 << width)}
    while number >> width:
        powers[width * 2] = context.multiply(powers[width], powers[width])
        width *= 2

    def convert(part: int, width: int) -> Any:
        if width <= _DECIMAL_PART_BITS:
            return context.create_decimal(part)
        half = width // 2
        high = part >> half
        low = part - (high << half)
        return context.add(context.multiply(convert(high, half), powers[half]), convert(low, half))

    text: str = context.to_sci_string(convert(number, width))
    return text


def parse_integer(text: str) -> int:
    """Return the int that a JSON integer token stands for, of any length."""
    if len(text) <= _DIRECT_DIGITS:
        return int(text)
    if text[0] == "-":
        return -parse_integer(text[1:])
    parts = _parts(text)
    power = 10**_DIRECT_DIGITS
    while len(parts) > 1:
        # Least significant part first; each round joins neighbours and squares the weight between them.
        if len(parts) % 2:
            parts.append(0)
        parts = [parts[i] + parts[i + 1] * power for i in range(0, len(parts), 2)]
        power = power * power if len(parts) > 1 else power
    return parts[0]


def _parts(digits: str) -> List[int]:
    """Return the values of digits cut from the right into parts that convert directly."""
    ends = range(len(digits), 0, -_DIRECT_DIGITS)
    return [int(digits[max(0, end - _DIRECT_DIGITS) : end]) for end in ends]


def double_text(number: float) -> str:
    """Return a finite float as ECMAScript's Number::toString spells it (ECMA-262, 6.1.6.1.20), with one difference.

    Integral values beyond 2**53 - 1 have all their digits, so that they are the same as the equal int: 1e21 is 22 digits.
    """
    if number.is_integer():
        return repr(int(number))
    text = repr(number)
    if "e" not in text:
        return text
    # Not integral, so the exponent is negative; repr uses one below 1e-4, ECMAScript only below 1e-6.
    mantissa, _, exponent = text.partition("e-")
    shift = int(exponent)
    if shift > 6:
        return mantissa + "e-" + repr(shift)
    sign = "-" if mantissa[0] == "-" else ""
    return sign + "0." + "0" * (shift - 1) + mantissa.lstrip("-").replace(".", "")
