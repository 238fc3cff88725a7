import pytest

from calx import CalcError, evaluate


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 + ", "column 5: expected a value, got 'the end'"),
        ("(1 + 2", r"column 7: expected '\)', got 'the end'"),
        ("1 2", "column 3: expected the end, got '2'"),
        ("1 $ 2", r"column 3: unexpected '\$'"),
        ("1.2.3", "column 1: no number: '1.2.3'"),
        ("a + 1", "column 1: unknown name 'a'"),
        ("2 / (1 - 1)", "column 3: division by zero"),
        ("2 ^ (1/2)", "column 3: the exponent 1/2 is no whole number"),
        ("round(1)", "column 1: unknown function 'round'"),
        ("abs(1, 2)", "column 1: abs of 2 values"),
    ],
)
def test_what_is_wrong_is_said_with_its_column(text, message):
    with pytest.raises(CalcError, match=message):
        evaluate(text)
