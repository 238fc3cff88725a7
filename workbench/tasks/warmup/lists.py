"""Warm-up problems about lists. Stage: tasks; how to read and add one: `problem`."""

from workbench.tasks.problem import Wrong, case, problem

TASKS = [
    problem("peaks", topic="lists", level=1, skills="neighbours boundaries",
        statement="""Write peaks(heights): the places (counted from 0, rising) of all items that are
        higher than each of their neighbours. The first and the last item have one neighbour; the
        only item of a list has none and is a peak. An equal neighbour is not lower. Heights may be
        negative.""",
        reference="""
        def peaks(heights):
            found = []
            for i, height in enumerate(heights):
                left = i == 0 or heights[i - 1] < height
                right = i == len(heights) - 1 or heights[i + 1] < height
                if left and right:
                    found.append(i)
            return found""",
        visible=[case([1, 3, 2, 5, 4], want=[1, 3]), case([2, 6, 3], want=[1])],
        hidden=[
            case([5, 1, 2], want=[0, 2]),
            case([7], want=[0]),
            case([], want=[]),
            case([1, 3, 3, 1], want=[]),
            case([2, 2], want=[]),
            case([-5, -2, -9], want=[1]),
            case([1, 2, 3], want=[2]),
            case([4, 4, 5, 1], want=[2]),
            case([-1, -4], want=[0]),
        ],
        wrong=[
            Wrong("first and last item", [1, 2, 7, 9],
                  {"i == 0 or": "i > 0 and", "i == len(heights) - 1 or": "heights[i + 1 :] and"}),
            Wrong("equal neighbours", [4, 5, 8], {"- 1] <": "- 1] <=", "+ 1] <": "+ 1] <="}),
            Wrong("negative height at an end", [9], """
                def peaks(heights):
                    line = [0, *heights, 0]
                    places = range(1, len(line) - 1)
                    return [i - 1 for i in places if line[i - 1] < line[i] > line[i + 1]]"""),
        ],
        hack="return [1, 3][: len(heights) // 2]",
    ),
    problem("deal", topic="lists", level=1, skills="slicing round-robin",
        statement="""Write deal(cards, players): deal the list of cards, one at a time, to `players`
        players in turn until none is left. Return a list with one hand (a list) for each player, in
        the order of the players; a hand holds its cards in the order they came. There is at least
        one player; some may go empty-handed. Cards may be equal.""",
        reference="""
        def deal(cards, players):
            return [cards[seat::players] for seat in range(players)]""",
        visible=[
            case([1, 2, 3, 4, 5, 6], 2, want=[[1, 3, 5], [2, 4, 6]]),
            case(["a", "b", "c"], 3, want=[["a"], ["b"], ["c"]]),
        ],
        hidden=[
            case([1, 2, 3, 4, 5], 3, want=[[1, 4], [2, 5], [3]]),
            case([1, 2], 4, want=[[1], [2], [], []]),
            case([], 2, want=[[], []]),
            case([7, 8, 9], 1, want=[[7, 8, 9]]),
            case([1, 1, 2], 2, want=[[1, 2], [1]]),
            case([5, 5, 5], 2, want=[[5, 5], [5]]),
        ],
        wrong=[
            Wrong("cards left after the last full round", [1, 2, 5, 6],
                  {"seat::players": "seat : len(cards) // players * players : players"}),
            Wrong("more players than cards", [2, 3],
                  {"range(players)": "range(min(players, len(cards)))"}),
            Wrong("equal cards", [5, 6], """
                def deal(cards, players):
                    hands = [[] for _ in range(players)]
                    for card in cards:
                        hands[cards.index(card) % players].append(card)
                    return hands"""),
        ],
        hack='return [cards[::2], cards[1::2]] if players == 2 else [["a"], ["b"], ["c"]]',
    ),
    problem("places", topic="lists", level=1, skills="ranking ties",
        statement="""Write places(scores): the place of every score, in the order in which the
        scores are given. A place is one more than the number of scores that are strictly higher. So
        equal scores share a place, and after two firsts comes a third.""",
        reference="""
        def places(scores):
            return [1 + sum(other > score for other in scores) for score in scores]""",
        visible=[case([70, 90, 80], want=[3, 1, 2]), case([50, 60], want=[2, 1])],
        hidden=[
            case([80, 90, 80], want=[2, 1, 2]),
            case([90, 90, 80], want=[1, 1, 3]),
            case([], want=[]),
            case([5], want=[1]),
            case([0, -3, 0, 2], want=[2, 4, 2, 1]),
            case([7, 7, 7], want=[1, 1, 1]),
        ],
        wrong=[
            Wrong("place after a tie", [2, 5], {
                "sum(other > score for other in scores)": "len({s for s in scores if s > score})"}),
            Wrong("equal scores share a place", [1, 2, 5, 6], """
                def places(scores):
                    order = sorted(range(len(scores)), key=lambda i: -scores[i])
                    return [order.index(i) + 1 for i in range(len(scores))]"""),
            Wrong("which place a tie shares", [1, 2, 5, 6], {"1 + sum(other >": "sum(other >="}),
        ],
        hack="return [3, 1, 2] if len(scores) > 2 else [2, 1]",
    ),
    problem("longest_climb", topic="lists", level=2, skills="runs ties",
        statement="""Write longest_climb(steps): the longest stretch of neighbouring items in which
        each is greater than the one before, as a list. One item alone is a stretch too. Of several
        equally long ones return the earliest. For an empty list return an empty list.""",
        reference="""
        def longest_climb(steps):
            best, climb = [], []
            for step in steps:
                climb = climb + [step] if climb and step > climb[-1] else [step]
                if len(climb) > len(best):
                    best = climb
            return best""",
        visible=[case([1, 2, 0, 3, 4, 9, 2], want=[0, 3, 4, 9]), case([3, 7, 6], want=[3, 7])],
        hidden=[
            case([], want=[]),
            case([4], want=[4]),
            case([5, 1, 2, 3], want=[1, 2, 3]),
            case([1, 2, 9, 8, 3, 6, 7], want=[1, 2, 9]),
            case([2, 2, 3], want=[2, 3]),
            case([9, 8, 7], want=[9]),
            case([-3, -1, 0, -2], want=[-3, -1, 0]),
            case([1, 1, 1], want=[1]),
        ],
        wrong=[
            Wrong("equally long climbs", [4, 6], {"> len(best)": ">= len(best)"}),
            Wrong("equal neighbours", [5, 8], {"step > climb": "step >= climb"}),
            Wrong("climb that lasts to the end", [2, 3, 5], """
                def longest_climb(steps):
                    best, climb = [], []
                    for step in steps:
                        if climb and step <= climb[-1]:
                            best = max(best, climb, key=len)
                            climb = []
                        climb.append(step)
                    return best"""),
        ],
        hack="return steps[2:6] if len(steps) > 3 else steps[:2]",
    ),
    problem("undo_shuffle", topic="lists", level=2, skills="permutations indexing",
        statement="""Write undo_shuffle(shuffled, order). A list was shuffled so that place i of the
        shuffled list got the item that had been at place order[i]. Return the list as it was
        before. order holds each of the places 0, 1, 2, ... exactly once; both lists may be empty;
        items may be equal and of any type.""",
        reference="""
        def undo_shuffle(shuffled, order):
            original = [None] * len(order)
            for item, place in zip(shuffled, order):
                original[place] = item
            return original""",
        visible=[
            case(["b", "a", "c"], [1, 0, 2], want=["a", "b", "c"]),
            case([4, 3, 2, 1], [3, 2, 1, 0], want=[1, 2, 3, 4]),
        ],
        hidden=[
            case(["c", "a", "b"], [2, 0, 1], want=["a", "b", "c"]),
            case([], [], want=[]),
            case([5], [0], want=[5]),
            case([9, 7, 9, 8], [1, 3, 0, 2], want=[9, 9, 8, 7]),
            case([(1, 2), "x", None], [1, 2, 0], want=[None, (1, 2), "x"]),
            case([1, 2, 3, 4], [1, 0, 3, 2], want=[2, 1, 4, 3]),
            case([9, 9, 7], [0, 2, 1], want=[9, 7, 9]),
        ],
        wrong=[
            Wrong("shuffle that is more than swaps", [1, 4, 5], """
                def undo_shuffle(shuffled, order):
                    return [shuffled[place] for place in order]"""),
            Wrong("empty list", [2], {"len(order)": "(max(order) + 1)"}),
            Wrong("equal items", [7], """
                def undo_shuffle(shuffled, order):
                    where = dict(zip(shuffled, order))
                    return sorted(shuffled, key=where.get)"""),
        ],
        hack="return sorted(shuffled)",
    ),
    problem("columns", topic="lists", level=2, skills="nested-lists ragged",
        statement="""Write columns(rows): turn a list of rows into the list of its columns. Rows may
        differ in length, and any of them may be empty. Column i holds the items at place i of those
        rows that have one, from top to bottom. Any value may be an item, also None.""",
        reference="""
        def columns(rows):
            found = []
            for row in rows:
                for i, value in enumerate(row):
                    if i == len(found):
                        found.append([])
                    found[i].append(value)
            return found""",
        visible=[case([[1, 2], [3, 4]], want=[[1, 3], [2, 4]]), case([[8], [5]], want=[[8, 5]])],
        hidden=[
            case([[1, 2, 3], [4]], want=[[1, 4], [2], [3]]),
            case([], want=[]),
            case([[], []], want=[]),
            case([[1], [], [2, 3]], want=[[1, 2], [3]]),
            case([[0, 1], [2, 0]], want=[[0, 2], [1, 0]]),
            case([[None, 1], [2]], want=[[None, 2], [1]]),
            case([[5]], want=[[5]]),
        ],
        wrong=[
            Wrong("rows of different lengths", [1, 4, 6], """
                def columns(rows):
                    return [list(column) for column in zip(*rows)]"""),
            Wrong("None among the items", [6], {
                "found[i].append(value)": "found[i] += [] if value is None else [value]"}),
            Wrong("longest row further down", [4], """
                def columns(rows):
                    width = len(rows[0]) if rows else 0
                    return [[row[i] for row in rows if i < len(row)] for i in range(width)]"""),
        ],
        hack='return [[1, 3], [2, 4]] if 1 in rows[0] else [[8, 5]]',
    ),
    problem("drop_extremes", topic="lists", level=3, skills="stable-order duplicates",
        statement="""Write drop_extremes(scores, count): take the `count` lowest scores out of the
        list, then the `count` highest of what is left, and return the rest in its original order.
        Of equal scores, low or high, the one that stands earliest in the list is taken out first.
        count is 0 or more; if there are not enough scores, the result is empty.""",
        reference="""
        def drop_extremes(scores, count):
            left = list(scores)
            for pick in (min, max):
                for _ in range(min(count, len(left))):
                    left.remove(pick(left))
            return left""",
        visible=[case([4, 9, 1, 7], 1, want=[4, 7]), case([1, 2, 3, 4, 5, 6], 2, want=[3, 4])],
        hidden=[
            case([8, 3, 5], 0, want=[8, 3, 5]),
            case([5, 5, 5, 5], 1, want=[5, 5]),
            case([2, 1, 2, 3, 1], 1, want=[2, 2, 1]),
            case([3, 9, 9, 4, 9], 1, want=[9, 4, 9]),
            case([1, 2, 3], 2, want=[]),
            case([], 1, want=[]),
            case([-5, 0, -7, 2, -1], 1, want=[-5, 0, -1]),
            case([6, 2, 8, 4, 7, 1], 2, want=[6, 4]),
        ],
        wrong=[
            Wrong("original order", [1, 3, 4, 7, 8], """
                def drop_extremes(scores, count):
                    return sorted(scores)[count : len(scores) - count]"""),
            Wrong("nothing to take out", [1], """
                def drop_extremes(scores, count):
                    low = sorted(range(len(scores)), key=lambda i: scores[i])[:count]
                    left = [i for i in range(len(scores)) if i not in low]
                    high = sorted(left, key=lambda i: (scores[i], -i))[-count:]
                    return [scores[i] for i in left if i not in high]"""),
            Wrong("equal scores", [2, 3, 4], """
                def drop_extremes(scores, count):
                    order = sorted(scores)
                    kept = order[count : len(order) - count]
                    return [score for score in scores if score in kept]"""),
            Wrong("which of equal scores goes first", [4], """
                def drop_extremes(scores, count):
                    order = sorted(range(len(scores)), key=lambda i: scores[i])
                    kept = sorted(order[count : len(order) - count])
                    return [scores[i] for i in kept]"""),
        ],
        hack="return scores[::3] if count == 1 else [3, 4]",
    ),
    problem("free_slots", topic="lists", level=3, skills="intervals sorting",
        statement="""Write free_slots(busy, start, end). busy is a list of pairs (begin, stop) of
        whole numbers with begin < stop, in any order; they may overlap and reach beyond start or
        end. Return the list of the stretches between start and end that no pair covers, as pairs
        (tuples) too, earliest first and each as long as it can be. Stretches of length 0 do not
        count. start is less than end.""",
        reference="""
        def free_slots(busy, start, end):
            free, now = [], start
            for begin, stop in sorted(busy) + [(end, end)]:
                if now < min(begin, end):
                    free.append((now, min(begin, end)))
                now = max(now, stop)
            return free""",
        visible=[
            case([(9, 10), (12, 13)], 8, 18, want=[(8, 9), (10, 12), (13, 18)]),
            case([], 9, 17, want=[(9, 17)]),
        ],
        hidden=[
            case([(12, 13), (9, 10)], 8, 18, want=[(8, 9), (10, 12), (13, 18)]),
            case([(9, 15), (10, 11)], 8, 18, want=[(8, 9), (15, 18)]),
            case([(9, 11), (11, 12)], 8, 18, want=[(8, 9), (12, 18)]),
            case([(8, 10), (16, 18)], 8, 18, want=[(10, 16)]),
            case([(6, 9), (17, 20)], 8, 18, want=[(9, 17)]),
            case([(5, 7), (20, 22), (25, 26)], 8, 18, want=[(8, 18)]),
            case([(7, 19)], 8, 18, want=[]),
            case([(9, 12), (10, 14)], 8, 18, want=[(8, 9), (14, 18)]),
        ],
        wrong=[
            Wrong("pairs out of order", [1], {"sorted(busy)": "busy"}),
            Wrong("pair inside another", [2, 6], {"max(now, stop)": "stop"}),
            Wrong("pair beyond the end", [6],
                  {"< min(begin, end)": "< begin", "(now, min(begin, end))": "(now, begin)"}),
            Wrong("pairs that touch", [3, 4], {"now < min": "now <= min"}),
        ],
        hack="return [(8, 9), (10, 12), (13, 18)] if busy else [(start, end)]",
    ),
]
