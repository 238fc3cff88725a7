import pytest

from stockroom import Recipe, Shortage, Stock, UnitError, make, quantity


@pytest.fixture
def stock():
    stock = Stock()
    for item, said in {"flour": "2 kg", "eggs": "1 dozen", "milk": "750 ml"}.items():
        stock.add(item, quantity(said))
    return stock


@pytest.mark.parametrize(
    ("item", "taken", "left"),
    [
        ("flour", "500 g", "1.5 kg"),
        ("flour", "2000 g", "0 kg"),
        ("flour", "1 lb", "1.54640763 kg"),
        ("eggs", "3 piece", "3/4 dozen"),
        ("eggs", "1 piece", "11/12 dozen"),
        ("milk", "0.5 l", "250 ml"),
        ("milk", "1.5 cl", "735 ml"),
    ],
)
def test_what_is_taken_may_be_in_another_unit(stock, item, taken, left):
    stock.take(item, quantity(taken))
    assert stock.have(item) == quantity(left)


@pytest.mark.parametrize(
    ("item", "taken", "message"),
    [
        ("milk", "1 l", "750 ml of milk, 1 l wanted"),
        ("flour", "2001 g", "2 kg of flour, 2001 g wanted"),
        ("eggs", "13 piece", "1 dozen of eggs, 13 piece wanted"),
    ],
)
def test_too_much_is_refused_and_nothing_is_taken(stock, item, taken, message):
    before = stock.have(item)
    with pytest.raises(Shortage, match=message):
        stock.take(item, quantity(taken))
    assert stock.have(item) == before


def test_what_is_measured_differently_cannot_be_taken(stock):
    for said in ("1 l", "1 piece"):
        with pytest.raises(UnitError):
            stock.take("flour", quantity(said))
    assert stock.have("flour") == quantity("2 kg")


def test_an_item_is_used_up_to_the_last_gram(stock):
    for _ in range(8):
        stock.take("flour", quantity("250 g"))
    for _ in range(12):
        stock.take("eggs", quantity("1 piece"))
    assert stock.used_up() == ["eggs", "flour"]


def test_a_recipe_takes_what_it_says(stock):
    cake = Recipe(
        "cake", {"flour": quantity("400 g"), "eggs": quantity("3 piece"), "milk": quantity("0.2 l")}
    )
    assert make(stock, cake, 2) == []
    assert [stock.have(item) for item in ("flour", "eggs", "milk")] == [
        quantity("1.2 kg"),
        quantity("1/2 dozen"),
        quantity("350 ml"),
    ]
    assert make(stock, cake, 2) == ["milk"]
    assert make(stock, cake, "7/4") == [] and stock.have("milk") == quantity("0 ml")


def test_the_same_unit_still_works(stock):
    stock.take("flour", quantity("2 kg"))
    assert stock.have("flour") == quantity("0 kg")
    with pytest.raises(Shortage, match="0 kg of flour, 0.001 kg wanted"):
        stock.take("flour", quantity("0.001 kg"))
