import pytest

from trailhead import Network


def test_lines_are_trails():
    net = Network.from_text("Hut - Lake: 40\n# by boat\nLake > North Shore: 15  # one way\n\n")
    assert net.places() == ["Hut", "Lake", "North Shore"]
    assert net.trails_from("Lake") == [("Hut", 40), ("North Shore", 15)]
    assert net.trails_from("North Shore") == []


@pytest.mark.parametrize("line", ["Hut Lake: 4", "Hut - Lake", "Hut - Lake: soon"])
def test_other_lines_are_refused(line):
    with pytest.raises(ValueError, match="line 2: expected"):
        Network.from_text(f"A - B: 1\n{line}\n")


def test_the_quickest_of_two_trails_counts():
    net = Network.from_text("A - B: 9\nA > B: 4\nA > B: 7\n")
    assert net.trails_from("A") == [("B", 4)] and net.trails_from("B") == [("A", 9)]


def test_closed_trails_are_left_out():
    net = Network.from_text("A - B: 9\nA - C: 1\n")
    net.close("B", "A")
    assert net.trails_from("A") == [("C", 1)] and net.trails_from("B") == []
    net.open("A", "B")
    assert net.trails_from("B") == [("A", 9)]


def test_unknown_places_are_named():
    with pytest.raises(KeyError, match="no place 'Z'"):
        Network().trails_from("Z")
