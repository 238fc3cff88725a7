"""Scripted policies keep the protocol."""

from workbench.policies import ScriptedPolicy


def test_a_list_is_said_turn_by_turn_and_then_submits():
    session = ScriptedPolicy(["ls", "cat lib.py"]).open(2)
    for turn in range(3):
        for i in (0, 1):
            session.observe(i, f"answer {turn}")
        texts = [action.text for action in session.act([1, 0])]
        assert texts == [["ls", "ls"], ["cat lib.py"] * 2, ["submit"] * 2][turn]


def test_a_function_sees_the_observations_so_far():
    session = ScriptedPolicy(lambda seen: f"{len(seen)} {seen[-1]}").open(1)
    session.observe(0, "fix f")
    assert session.act([0])[0].text == "1 fix f"
    session.observe(0, "ok")
    (action,) = session.act([0])
    assert action.text == "2 ok"
    assert bytes(action.ids[:-1]).decode() == "2 ok"
    assert action.logprobs == (0.0,) * len(action.ids)


def test_prompts_and_actions_join_to_one_sequence():
    session = ScriptedPolicy(["a", "b"]).open(1)
    length = 0
    for _ in range(2):
        session.observe(0, "x")
        (action,) = session.act([0])
        assert action.kept_prefix == length
        length += len(action.new_ids) + len(action.ids)


def test_forks_go_their_own_way():
    session = ScriptedPolicy(lambda seen: " ".join(seen)).open(1)
    session.observe(0, "a")
    session.act([0])
    fork = session.take([0, 0])
    fork.observe(1, "b")
    session.observe(0, "c")
    assert fork.act([1])[0].text == "a b"
    assert session.act([0])[0].text == "a c"


def test_a_recalled_text_counts_as_said():
    session, again = (ScriptedPolicy(["ls", "run"]).open(1) for _ in range(2))
    for one in (session, again):
        one.observe(0, "fix f")
    again.recall([0], session.act([0]))
    for one in (session, again):
        one.observe(0, "lib.py")
    assert again.act([0]) == session.act([0])
