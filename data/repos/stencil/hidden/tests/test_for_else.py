import pytest

from stencil import TemplateError, render

LOOP = "{% for x in xs %}<{{ x }}>{% else %}none{% end %}"


@pytest.mark.parametrize("xs", [[], (), "", {}, None])
def test_the_other_part_is_for_loops_over_nothing(xs):
    assert render(LOOP, {"xs": xs}) == "none"


def test_it_is_left_out_when_there_are_items():
    assert render(LOOP, {"xs": [1, 2]}) == "<1><2>"


def test_items_that_render_as_nothing_are_items():
    assert render("[{% for x in xs %}{{ x }}{% else %}none{% end %}]", {"xs": [None]}) == "[]"


def test_a_generator_is_looped_over_once():
    assert render(LOOP, {"xs": (n for n in ())}) == "none"
    assert render(LOOP, {"xs": (n for n in (7,))}) == "<7>"


def test_the_issue_s_basket():
    basket = "{% for item in basket %}<li>{{ item }}</li>{% else %}<li>nothing yet</li>{% end %}"
    assert render(basket, {"basket": []}) == "<li>nothing yet</li>"
    assert render(basket, {"basket": ["tea"]}) == "<li>tea</li>"


def test_an_if_inside_keeps_its_own_else():
    source = "{% for x in xs %}{% if x %}{{ x }}{% else %}-{% end %}{% else %}none{% end %}"
    assert render(source, {"xs": [0, 3]}) == "-3"
    assert render(source, {"xs": []}) == "none"


def test_loops_inside_loops_have_their_own():
    source = "{% for r in rows %}{% for x in r %}{{ x }}{% else %}.{% end %};{% else %}!{% end %}"
    assert render(source, {"rows": [[1], []]}) == "1;.;"
    assert render(source, {"rows": []}) == "!"


def test_the_second_else_of_a_loop_is_an_error():
    with pytest.raises(TemplateError, match="line 2: else outside of if"):
        render("{% for x in xs %}{% else %}\n{% else %}{% end %}")
