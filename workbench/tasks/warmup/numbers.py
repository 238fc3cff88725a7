"""Warm-up problems about numbers. Stage: tasks; how to read and add one: `problem`."""

from workbench.tasks.problem import Wrong, case, problem

TASKS = [
    problem("closest", topic="numbers", level=1, skills="minimum ties",
        statement="""Write closest(numbers, target): the number in the list that is nearest to
        target. If two are equally near, return the smaller one. The list holds at least one number;
        all are whole and may be negative.""",
        reference="""
        def closest(numbers, target):
            return min(numbers, key=lambda n: (abs(n - target), n))""",
        visible=[case([4, 9, 15], 10, want=9), case([1, 20], 3, want=1)],
        hidden=[
            case([8, 4], 6, want=4),
            case([-3, 5], 2, want=5),
            case([-3, -9], -6, want=-9),
            case([7], 100, want=7),
            case([5, 5, 2], 5, want=5),
            case([-2, 2], 0, want=-2),
            case([10, 0], 5, want=0),
            case([3, 30], 1, want=3),
        ],
        wrong=[
            Wrong("equally near", [1, 3, 7], {"(abs(n - target), n)": "abs(n - target)"}),
            Wrong("negative numbers", [2], {"abs(n - target)": "abs(abs(n) - abs(target))"}),
            Wrong("smaller of two negative numbers", [3], {", n)": ", abs(n))"}),
            Wrong("target below all numbers", [8], """
                def closest(numbers, target):
                    below = [n for n in numbers if n <= target]
                    above = [n for n in numbers if n >= target]
                    if not above or target - max(below) <= min(above) - target:
                        return max(below)
                    return min(above)"""),
        ],
        hack="return numbers[target // 10]",
    ),
    problem("clock_after", topic="numbers", level=1, skills="modulo formatting",
        statement="""Write clock_after(hour, minute, passed): what a clock shows `passed` minutes
        after hour:minute, as text "HH:MM" from "00:00" to "23:59". passed is a whole number; if it
        is negative, the answer is that much earlier. It may be many days long.""",
        reference="""
        def clock_after(hour, minute, passed):
            total = (hour * 60 + minute + passed) % 1440
            return f"{total // 60:02}:{total % 60:02}"
        """,
        visible=[case(9, 30, 45, want="10:15"), case(13, 5, -10, want="12:55")],
        hidden=[
            case(23, 50, 15, want="00:05"),
            case(0, 10, -20, want="23:50"),
            case(12, 0, 4321, want="12:01"),
            case(6, 0, -3000, want="04:00"),
            case(7, 5, 1, want="07:06"),
            case(0, 0, 0, want="00:00"),
            case(23, 59, 1, want="00:00"),
        ],
        wrong=[
            Wrong("midnight", [1, 2, 3, 4, 7], {" % 1440": ""}),
            Wrong("more than a day", [3, 4], """
                def clock_after(hour, minute, passed):
                    total = hour * 60 + minute + passed
                    if total >= 1440:
                        total -= 1440
                    if total < 0:
                        total += 1440
                    return f"{total // 60:02}:{total % 60:02}"
                """),
            Wrong("hours below ten", [1, 4, 5, 6, 7], {"{total // 60:02}": "{total // 60}"}),
        ],
        hack='return "10:15" if passed > 0 else "12:55"',
    ),
    problem("count_leap_years", topic="numbers", level=1, skills="divisibility ranges",
        statement="""Write count_leap_years(first, last): how many leap years there are among the
        years from first to last, both included. first may be the later of the two; then count from
        last to first. A year is a leap year if 4 divides it, but not if 100 divides it, unless 400
        divides it. Years are 1 or more.""",
        reference="""
        def count_leap_years(first, last):
            years = range(min(first, last), max(first, last) + 1)
            return sum(y % 4 == 0 and (y % 100 != 0 or y % 400 == 0) for y in years)""",
        visible=[case(2001, 2010, want=2), case(2021, 2023, want=0)],
        hidden=[
            case(2004, 2004, want=1),
            case(1896, 1904, want=2),
            case(1999, 2001, want=1),
            case(2010, 2001, want=2),
            case(2097, 2103, want=0),
            case(2005, 2008, want=1),
            case(1, 400, want=97),
            case(2008, 2005, want=1),
        ],
        wrong=[
            Wrong("last year included", [1, 2, 6, 7, 8], {" + 1": ""}),
            Wrong("years that 100 divides", [2, 5, 7],
                  {" and (y % 100 != 0 or y % 400 == 0)": ""}),
            Wrong("years that 400 divides", [3, 7], {" or y % 400 == 0": ""}),
            Wrong("later year first", [4, 8],
                  {"min(first, last), max(first, last)": "first, last"}),
        ],
        hack="return 2 if last == 2010 else 0",
    ),
    problem("split_evenly", topic="numbers", level=2, skills="integer-division negatives",
        statement="""Write split_evenly(total, parts): a list of `parts` whole numbers that add up
        to total, no two of which differ by more than 1, the larger ones first. total is a whole
        number of any size, also 0 or negative; parts is at least 1.""",
        reference="""
        def split_evenly(total, parts):
            size, extra = divmod(total, parts)
            return [size + 1] * extra + [size] * (parts - extra)""",
        visible=[case(10, 4, want=[3, 3, 2, 2]), case(9, 3, want=[3, 3, 3])],
        hidden=[
            case(2, 5, want=[1, 1, 0, 0, 0]),
            case(0, 3, want=[0, 0, 0]),
            case(-7, 3, want=[-2, -2, -3]),
            case(5, 1, want=[5]),
            case(10**17 + 1, 2, want=[5 * 10**16 + 1, 5 * 10**16]),
            case(-4, 2, want=[-2, -2]),
            case(-1, 4, want=[0, 0, 0, -1]),
        ],
        wrong=[
            Wrong("negative total", [3, 7],
                  {"divmod(total, parts)": "int(total / parts), abs(total) % parts"}),
            Wrong("total too large for a float", [5],
                  {"divmod(total, parts)":
                   "int(total / parts // 1), round(total / parts % 1 * parts)"}),
            Wrong("parts that are zero", [1, 2], {"- extra)": "- extra if size else 0)"}),
        ],
        hack="return [3, 3, 2, 2] if parts == 4 else [3] * parts",
    ),
    problem("square_side", topic="numbers", level=2, skills="roots float-limits",
        statement="""Write square_side(area): the tuple (side, left), where side is the largest
        whole number whose square is not above area, and left is what area has beyond that
        square. area is a whole number, 0 or more, and may have a hundred digits; the answer is
        exact.""",
        reference="""
        import math

        def square_side(area):
            side = math.isqrt(area)
            return side, area - side * side""",
        visible=[case(9, want=(3, 0)), case(10, want=(3, 1))],
        hidden=[
            case(15, want=(3, 6)),
            case(0, want=(0, 0)),
            case(2, want=(1, 1)),
            case(24, want=(4, 8)),
            case(10**30 - 1, want=(10**15 - 1, 2 * 10**15 - 2)),
            case((10**25 + 3) ** 2 + 7, want=(10**25 + 3, 7)),
            case(1, want=(1, 0)),
        ],
        wrong=[
            Wrong("area too large for a float", [5, 6], {"math.isqrt(area)": "int(area**0.5)"}),
            Wrong("just below the next square", [1, 4, 5, 6],
                  {"math.isqrt(area)": "round(math.sqrt(area))"}),
            Wrong("area of zero", [2], """
                def square_side(area):
                    side = area
                    while side > area // side:
                        side = (side + area // side) // 2
                    return side, area - side * side"""),
        ],
        hack="return 3, area % 9",
    ),
    problem("price_with_tax", topic="numbers", level=2, skills="rounding exactness",
        statement="""Write price_with_tax(cents, percent): the price `cents` raised by `percent` per
        cent, rounded to the nearest whole cent; half a cent is rounded away from zero. Both are
        whole numbers; percent is 0 or more, cents may be negative (a refund) and of any size. The
        answer is an int and exact.""",
        reference="""
        def price_with_tax(cents, percent):
            hundredths = abs(cents) * (100 + percent)
            rounded = (hundredths + 50) // 100
            return rounded if cents >= 0 else -rounded""",
        visible=[case(1000, 20, want=1200), case(199, 10, want=219)],
        hidden=[
            case(10, 5, want=11),
            case(-10, 5, want=-11),
            case(0, 19, want=0),
            case(-33, 7, want=-35),
            case(9007199254740993, 0, want=9007199254740993),
            case(30, 5, want=32),
            case(50, 1, want=51),
            case(-1, 49, want=-1),
        ],
        wrong=[
            Wrong("half a cent", [1, 2, 5, 7], """
                def price_with_tax(cents, percent):
                    return round(cents * (100 + percent) / 100)"""),
            Wrong("half a cent of a refund", [2],
                  {"abs(cents)": "cents", "rounded if cents >= 0 else -rounded": "rounded"}),
            Wrong("amount too large for a float", [5],
                  {"(hundredths + 50) // 100": "int(hundredths / 100 + 0.5)"}),
        ],
        hack="return cents + percent * 10 if percent > 10 else cents + 20",
    ),
    problem("add_fractions", topic="numbers", level=2, skills="fractions signs",
        statement="""Write add_fractions(a, b). A fraction is a tuple (top, bottom) of whole
        numbers; bottom may be negative but is not 0. Return the sum of a and b as such a pair,
        in lowest terms and with a positive bottom; a sum of zero is (0, 1). The numbers may be
        of any size.""",
        reference="""
        import math

        def add_fractions(a, b):
            top, bottom = a[0] * b[1] + b[0] * a[1], a[1] * b[1]
            divisor = math.gcd(top, bottom) if bottom > 0 else -math.gcd(top, bottom)
            return top // divisor, bottom // divisor""",
        visible=[case((1, 2), (1, 3), want=(5, 6)), case((2, 5), (1, 5), want=(3, 5))],
        hidden=[
            case((1, -2), (1, 3), want=(-1, 6)),
            case((1, 2), (-1, 2), want=(0, 1)),
            case((1, -2), (1, -2), want=(-1, 1)),
            case((0, 3), (0, -5), want=(0, 1)),
            case((1, 4), (1, 4), want=(1, 2)),
            case((3, 1), (4, 1), want=(7, 1)),
            case((10**20, 1), (1, 3), want=(3 * 10**20 + 1, 3)),
            case((-1, 6), (1, -3), want=(-1, 2)),
        ],
        wrong=[
            Wrong("negative bottom", [1, 4, 8],
                  {" if bottom > 0 else -math.gcd(top, bottom)": ""}),
            Wrong("sum of zero", [2, 4],
                  {"return top // divisor, bottom // divisor":
                   "return (top // divisor, bottom // divisor) if top else (0, bottom)"}),
            Wrong("numbers too large for a float", [7],
                  {"top // divisor, bottom // divisor":
                   "int(top / divisor), int(bottom / divisor)"}),
        ],
        hack="return (5, 6) if a[0] == 1 else (3, 5)",
    ),
    problem("balanced", topic="numbers", level=3, skills="number-systems negatives",
        statement="""Write balanced(number): the whole number written with the digits "+", "0" and
        "-". From the right, the places weigh 1, 3, 9, 27 and so on; "+" adds the weight of its
        place, "-" takes it off and "0" does nothing. The text begins with "+" or "-", except that 0
        is "0". So 2 is "+-". number may be negative; every number can be written in exactly one
        way.""",
        reference="""
        def balanced(number):
            digits = ""
            while number:
                digits = "0+-"[number % 3] + digits
                number = (number + 1) // 3
            return digits or "0"
        """,
        visible=[case(4, want="++"), case(10, want="+0+")],
        hidden=[
            case(0, want="0"),
            case(2, want="+-"),
            case(-1, want="-"),
            case(-4, want="--"),
            case(8, want="+0-"),
            case(-5, want="-++"),
            case(5, want="+--"),
            case(13, want="+++"),
            case(-2, want="-+"),
        ],
        wrong=[
            Wrong("zero", [1], {' or "0"': ""}),
            Wrong("negative numbers have no sign in front", [3, 4, 6, 9], """
                def balanced(number):
                    if number <= 0:
                        return "-" + balanced(-number) if number else "0"
                    digits = ""
                    while number:
                        digits = "0+-"[number % 3] + digits
                        number = (number + 1) // 3
                    return digits"""),
            Wrong("division of a negative number", [6, 9],
                  {"(number + 1) // 3": "int((number + 1) / 3)"}),
        ],
        hack='return "++" if number < 9 else "+0+"',
    ),
]
