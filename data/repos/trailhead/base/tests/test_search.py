import pytest

from trailhead import Network, Route, quickest
from trailhead.report import report


@pytest.fixture
def net():
    return Network.from_text("Hut - Lake: 40\nLake - Peak: 50\nPeak > Road: 70\nRoad > Hut: 25\n")


def test_a_way_is_found(net):
    assert quickest(net, "Hut", "Peak") == Route(("Hut", "Lake", "Peak"), 90)
    assert quickest(net, "Peak", "Hut") == Route(("Peak", "Lake", "Hut"), 90)


def test_one_is_there_already(net):
    assert quickest(net, "Lake", "Lake") == Route(("Lake",), 0)


def test_there_may_be_no_way(net):
    net.close("Hut", "Lake")
    assert quickest(net, "Hut", "Peak") is None
    assert report(net, quickest(net, "Hut", "Peak")) == "There is no way."


def test_unknown_places_are_named(net):
    for ends in (("Hut", "Moon"), ("Moon", "Hut"), ("Moon", "Moon")):
        with pytest.raises(KeyError, match="no place 'Moon'"):
            quickest(net, *ends)


def test_a_report_has_times(net):
    assert report(net, quickest(net, "Hut", "Road")) == (
        " 0:00  Hut\n 0:40  Lake\n 1:30  Peak\n 2:40  Road"
    )
