from plainmark.wrap import wrapped


def test_words_go_on_the_next_line_where_they_do_not_fit():
    assert wrapped("the quick brown fox", 12) == ["the quick", "brown fox"]


def test_white_space_is_one_blank():
    assert wrapped("a  b\tc\n d", 72) == ["a b c d"]


def test_beginnings_are_counted():
    assert wrapped("one two three", 7, "- ", "  ") == ["- one", "  two", "  three"]


def test_a_long_word_sticks_out():
    assert wrapped("see http://long.example now", 8) == ["see", "http://long.example", "now"]


def test_nothing_is_one_empty_line():
    assert wrapped("", 10) == [""] and wrapped("", 10, "- ") == ["- "]
