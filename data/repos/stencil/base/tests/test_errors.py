import pytest

from stencil import TemplateError, render


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("a\n{% fi %}", "line 2: unknown tag: fi"),
        ("{{ x|loud }}", "line 1: unknown filter: loud"),
        ("\n\n{% if x %}", "line 3: no end for: if x"),
        ("{% for x %}{% end %}", "line 1: expected 'for NAME in NAMES', got: for x"),
        ("{% if x %}\n{% else %}\n{% else %}{% end %}", "line 3: else outside of if"),
        ("\n{% else %}", "line 2: else outside of if"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(source, message):
    with pytest.raises(TemplateError, match=message):
        render(source)
