import pytest

from stockroom import Recipe, Shortage, Stock, UnitError, can_make, make, quantity


@pytest.fixture
def stock():
    stock = Stock()
    stock.add("flour", quantity("2 kg"))
    stock.add("eggs", quantity("1 dozen"))
    return stock


def test_more_of_an_item_keeps_its_unit(stock):
    stock.add("flour", quantity("500 g"))
    assert stock.have("flour") == quantity("2.5 kg")


def test_what_is_taken_is_gone(stock):
    stock.take("flour", quantity("0.5 kg"))
    assert stock.have("flour") == quantity("1.5 kg")
    with pytest.raises(Shortage, match="1.5 kg of flour, 2 kg wanted"):
        stock.take("flour", quantity("2 kg"))
    with pytest.raises(Shortage, match="no milk at all"):
        stock.take("milk", quantity("1 l"))


def test_what_is_used_up_is_known(stock):
    stock.take("flour", quantity("2 kg"))
    assert stock.used_up() == ["flour"] and stock.items() == ["eggs", "flour"]


def test_things_that_are_measured_differently_do_not_mix(stock):
    with pytest.raises(UnitError, match="l measures volume, kg measures mass"):
        stock.add("flour", quantity("1 l"))


def test_a_recipe_says_what_is_missing(stock):
    bread = Recipe("bread", {"flour": quantity("500 g"), "salt": quantity("10 g")})
    assert can_make(stock, bread) == ["salt"] and make(stock, bread) == ["salt"]
    assert can_make(stock, bread, 5) == ["flour", "salt"]
    assert stock.have("flour") == quantity("2 kg")


def test_a_recipe_takes_what_it_needs(stock):
    pasta = Recipe("pasta", {"flour": quantity("0.1 kg"), "eggs": quantity("1/12 dozen")})
    assert make(stock, pasta, 4) == []
    assert stock.have("flour") == quantity("1.6 kg")
    assert stock.have("eggs") == quantity("2/3 dozen")
