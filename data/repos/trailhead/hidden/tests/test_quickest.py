import itertools
import random

from trailhead import Network, Route, quickest


def net(*lines):
    return Network.from_text("\n".join(lines))


def test_a_detour_over_a_second_place_may_be_quicker():
    trails = net("Hut > Peak: 120", "Hut - Lake: 40", "Lake - Peak: 50")
    assert quickest(trails, "Hut", "Peak") == Route(("Hut", "Lake", "Peak"), 90)


def test_the_order_of_the_trails_does_not_matter():
    for lines in itertools.permutations(["A - D: 9", "A - B: 2", "B - C: 2", "C - D: 2"]):
        assert quickest(net(*lines), "A", "D") == Route(("A", "B", "C", "D"), 6)


def test_a_quicker_way_into_the_middle_counts_for_all_that_follows():
    trails = net("A > C: 10", "A > B: 1", "B > C: 1", "C > D: 1", "D > E: 1", "A > E: 5")
    assert quickest(trails, "A", "E") == Route(("A", "B", "C", "D", "E"), 4)
    trails.close("B", "C")
    assert quickest(trails, "A", "E") == Route(("A", "E"), 5)


def test_of_equal_ways_the_one_with_the_fewest_places_and_then_by_alphabet():
    trails = net("A > B: 1", "B > C: 1", "C > Z: 1", "A > Y: 1", "Y > Z: 2", "A > X: 2", "X > Z: 1")
    assert quickest(trails, "A", "Z") == Route(("A", "X", "Z"), 3)
    trails.add("A", "Z", 3)
    assert quickest(trails, "A", "Z") == Route(("A", "Z"), 3)


def test_what_is_behind_a_tie_is_kept_too():
    trails = net("A > C: 2", "C > D: 1", "A > B: 1", "B > D: 2", "D > E: 1")
    assert quickest(trails, "A", "E") == Route(("A", "B", "D", "E"), 4)


def shortest_by_trying(trails, start, goal):
    """All ways without a circle, each of them tried."""
    found = []

    def go(places, minutes):
        if places[-1] == goal:
            found.append((minutes, len(places), places))
            return
        for place, more in trails.trails_from(places[-1]):
            if place not in places:
                go((*places, place), minutes + more)

    go((start,), 0)
    return min(found)[::2] if found else None


def test_as_quick_as_the_best_of_all_ways():
    places = "ABCDEF"
    for seed in range(60):
        chance = random.Random(seed)
        trails = Network()
        for start, end in itertools.permutations(places, 2):
            trails.add("Z", start, 1, one_way=True)
            if chance.random() < 0.7:
                trails.add(start, end, chance.choice((1, 2, 4, 8, 16)), one_way=True)
        route = quickest(trails, "A", "F")
        wanted = shortest_by_trying(trails, "A", "F")
        assert (route and (route.minutes, route.places)) == wanted


class Patient(Network):
    """Lets somebody ask twenty times a place, on average, for the trails that leave one."""

    asked = 0

    def trails_from(self, place):
        self.asked += 1
        assert self.asked <= 20 * len(self.places())
        return super().trails_from(place)


def grid(size, minutes):
    trails = Patient()
    for x, y in itertools.product(range(size), repeat=2):
        here = f"{x:02} {y:02}"
        for end in (f"{x + 1:02} {y:02}", f"{x:02} {y + 1:02}"):
            if int(end[:2]) < size and int(end[3:]) < size:
                trails.add(here, end, minutes())
    return trails


def test_a_large_network_is_searched_in_reasonable_time():
    chance = random.Random(0)
    trails = grid(12, lambda: chance.randint(1, 9))
    route = quickest(trails, "00 00", "11 11")
    assert route.places[0] == "00 00" and route.places[-1] == "11 11"


def test_no_way_out_of_a_large_network():
    trails = grid(8, lambda: 1)
    trails.add("elsewhere", "00 00", 1, one_way=True)
    assert quickest(trails, "00 00", "elsewhere") is None
