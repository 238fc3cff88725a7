"""Amounts of money: exact decimals, rounded to cents where a calculation leaves more."""

from decimal import Decimal, InvalidOperation

CENT = Decimal("0.01")


def amount(said):
    """The amount that a text, whole number or decimal says.

    Raises ValueError for a float, for what is no number, and for parts of a cent.
    """
    if isinstance(said, float):
        raise ValueError(f"give {said!r} as a text: floats are not exact")
    try:
        value = Decimal(said)
    except InvalidOperation:
        raise ValueError(f"not an amount: {said!r}") from None
    if not value.is_finite() or value != value.quantize(CENT):
        raise ValueError(f"not an amount in whole cents: {said!r}")
    return value.quantize(CENT)


def rounded(value):
    """The nearest amount in whole cents."""
    return value.quantize(CENT)


def percent(value, rate):
    """`rate` per cent of an amount, in whole cents."""
    return rounded(amount(value) * Decimal(rate) / 100)


def converted(value, rate):
    """An amount in another currency that costs `rate` of it, in whole cents."""
    return rounded(amount(value) * Decimal(rate))


def shared(value, num_parts):
    """An amount in `num_parts` parts that differ by a cent at most and add up to it; the larger
    ones come first."""
    cents = int(amount(value) / CENT)
    each, left = divmod(abs(cents), num_parts)
    sign = -1 if cents < 0 else 1
    return [sign * (each + (n < left)) * CENT for n in range(num_parts)]
