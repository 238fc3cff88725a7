import pytest

from stencil import render


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Hello {{ name }}!", "Hello ada!"),
        ("{{ name|upper }} {{name|title}}", "ADA Ada"),
        ("{{ user.age }}{{ nobody.age }}", "36"),
        ("{% if name %}yes{% else %}no{% end %}", "yes"),
        ("{% if nobody %}yes{% else %}no{% end %}", "no"),
        ("{% for x in xs %}<{{ x }}>{% end %}", "<1><2>"),
        ("{% for x in nobody %}<{{ x }}>{% end %}", ""),
        ("{% for x in xs %}{% if x %}{{ x }}{% else %}-{% end %}{% end %}", "12"),
    ],
)
def test_a_template_is_filled_in(source, text):
    assert render(source, {"name": "ada", "user": {"age": 36}, "xs": [1, 2]}) == text


def test_attributes_are_found_too():
    assert render("{{ x.imag }}", {"x": 2j}) == "2.0"
