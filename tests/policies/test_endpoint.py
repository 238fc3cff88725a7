"""A policy behind a server: what is asked, what is read, what is asked again, what is our fault."""

import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from workbench import evaluate, load_tasks, rollout
from workbench.evaluation import SOLVED
from workbench.learning.batch import pack
from workbench.policies import EndpointError, EndpointPolicy
from workbench.policies.messages import assistant_message, heard_ids, text_of
from workbench.records import Group, SamplerSettings, from_json, to_json


def call(name, **arguments):
    """A message of the model that calls a tool, as OpenAI's servers send it."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": "abc", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def said(text):
    return {"role": "assistant", "content": text}


class Server:
    """A chat server on this machine that answers from a list and keeps what it was asked."""

    def __init__(self, *answers):
        self.asked, self.headers, self._answers = [], [], list(answers)
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._lock:
                    outer.asked.append(body)
                    outer.headers.append(dict(self.headers))
                    last = len(outer._answers) == 1
                    answer = outer._answers[0] if last else outer._answers.pop(0)
                status, payload = answer if isinstance(answer, tuple) else (200, answer)
                if callable(payload):
                    payload = payload(body)
                if "role" in payload:
                    choice = {"index": 0, "message": payload, "finish_reason": "stop"}
                    payload = {"choices": [choice]}
                data = json.dumps(payload).encode()
                self.send_response(status)
                if status == 429:
                    self.send_header("Retry-After", "0")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()


@pytest.fixture
def serve():
    """A function: answers -> a running Server; all are shut down afterwards."""
    running = []

    def start(*answers):
        running.append(Server(*answers))
        return running[-1]

    yield start
    for server in running:
        server.http.shutdown()
        server.http.server_close()


@pytest.fixture
def task():
    return load_tasks("bugfix", "train", 1)[0]


def policy_of(server, **options):
    return EndpointPolicy("model", server.url, wait_s=0.001, **options)


def repair(task):
    """The tool call that puts the right line in place."""
    path = task.entry_file
    wrong, right = (f[path].splitlines() for f in (task.files, task.reference))
    line = next(n for n, pair in enumerate(zip(wrong, right), 1) if pair[0] != pair[1])
    return call("edit", file=path, line=line, text=right[line - 1])


def test_an_episode_is_a_conversation_with_tool_calls(serve, task, sandbox):
    server = serve(call("ls"), repair(task), call("submit"))
    policy = policy_of(server, api_key="secret", options={"top_p": 1.0})
    result = evaluate(policy, [task], sandbox, sampler=SamplerSettings(max_action_tokens=77))
    assert result.solved().tolist() == [1.0]
    trajectory = result.groups[0].trajectories[0]
    assert [t.tool_call.name for t in trajectory.turns] == ["ls", "edit", "submit"]
    first, second, _ = server.asked
    assert first["model"] == "model" and first["max_tokens"] == 77 and first["top_p"] == 1.0
    assert [m["role"] for m in first["messages"]] == ["system", "user"]
    assert first["messages"][1]["content"] == task.statement and "logprobs" not in first
    assert {t["function"]["name"] for t in first["tools"]} >= {"ls", "edit", "submit"}
    answered = second["messages"][2:]
    assert [m["role"] for m in answered] == ["assistant", "tool"]
    assert answered[0]["tool_calls"][0]["id"] == answered[1]["tool_call_id"]
    assert answered[1]["content"] == trajectory.turns[0].observation
    assert server.headers[0]["Authorization"] == "Bearer secret" and "secret" not in repr(policy)


def test_without_tools_the_commands_are_described_and_fenced(serve, task, sandbox):
    server = serve(said("I look.\n```\nls\n```"), said("open it"), said("```\nsubmit\n```"))
    group = rollout(policy_of(server, style="plain"), task, sandbox, n=1)
    turns = group.trajectories[0].turns
    assert [t.tool_call and t.tool_call.name for t in turns] == ["ls", None, "submit"]
    assert "tools" not in server.asked[0]
    assert "FILE LINE|TEXT" in server.asked[0]["messages"][0]["content"]
    assert [m["role"] for m in server.asked[2]["messages"][-2:]] == ["assistant", "user"]
    assert server.asked[2]["messages"][-1]["content"] == "error: unknown command open"


def test_rows_are_asked_side_by_side_and_each_has_its_own_seed(serve, task, sandbox):
    server = serve(call("submit"))
    group = rollout(policy_of(server), task, sandbox, n=6, seed=3)
    assert len(server.asked) == 6 and len({body["seed"] for body in server.asked}) == 6
    assert all(t.stop_reason == "submitted" for t in group.trajectories)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(serve, task, sandbox, status):
    server = serve((status, {"error": "later"}), (status, {"error": "later"}), call("submit"))
    trajectory = rollout(policy_of(server), task, sandbox, n=1).trajectories[0]
    assert trajectory.stop_reason == "submitted" and len(server.asked) == 3
    assert server.asked[0] == server.asked[2]


def test_a_server_that_stays_broken_is_our_fault_and_no_reward(serve, task, sandbox):
    server = serve(call("ls"), (500, {"error": "gone"}))
    with pytest.warns(UserWarning, match="in 3 tries .HTTP 500: .*gone.*the episode is dropped"):
        group = rollout(policy_of(server, num_retries=2), task, sandbox, n=1)
    trajectory = group.trajectories[0]
    assert trajectory.stop_reason == "abort" and trajectory.verdict.status == "sandbox_error"
    assert SOLVED.score(trajectory, task).total is None and len(server.asked) == 1 + 3
    assert trajectory.turns[-1].action.finish == "fault"
    assert from_json(Group, to_json(group)) == group


def test_a_server_that_is_not_there_is_our_fault_too(serve, task, sandbox):
    server = serve(call("ls"))
    server.http.shutdown()
    server.http.server_close()
    with pytest.warns(UserWarning, match=r"got none in 2 tries \(ConnectError: .*Is the server up"):
        trajectory = rollout(policy_of(server, num_retries=1), task, sandbox, n=1).trajectories[0]
    assert trajectory.stop_reason == "abort"


@pytest.mark.parametrize(("status", "text"), [(401, "no key"), (404, "no such model")])
def test_a_refused_request_stops_everything_and_says_why(serve, task, sandbox, status, text):
    server = serve((status, {"error": text}))
    with pytest.raises(EndpointError, match=f"got HTTP {status}.*{text}"):
        rollout(policy_of(server), task, sandbox, n=2)
    with pytest.raises(EndpointError, match="expected a chat completion.*usually ends in /v1"):
        rollout(policy_of(serve({"answer": "?"})), task, sandbox, n=1)


@pytest.mark.parametrize("refusal", [(402, {"error": "no money"}), (200, {"error": "overloaded"})])
def test_a_request_refused_in_the_middle_costs_its_own_episode_alone(serve, task, sandbox, refusal):
    server = serve(repair(task), refusal, call("submit"))  # the first, the second, the first
    policy = policy_of(server, concurrency=1)
    with pytest.warns(UserWarning, match="(no money|overloaded).*the episode is dropped"):
        found = evaluate(policy, [task, replace(task, task_id="second")], sandbox, seed=0)
    assert found.solved()[0] == 1.0 and np.isnan(found.solved()[1])
    assert found.groups[1].trajectories[0].stop_reason == "abort"


def test_a_conversation_that_is_too_long_ends_with_the_context(serve, task, sandbox):
    full = 400, {"error": "maximum context length is 16 tokens"}
    trajectory = rollout(policy_of(serve(call("ls"), full)), task, sandbox, n=1).trajectories[0]
    assert trajectory.stop_reason == "context"
    with pytest.warns(UserWarning, match="no room for even a first message .*length is 16 tokens"):
        rollout(policy_of(serve(full)), task, sandbox, n=1)
    other = 400, {"error": "unknown field guided_context"}
    with pytest.raises(EndpointError, match="unknown field guided_context"):
        rollout(policy_of(serve(other)), task, sandbox, n=1)


@pytest.mark.parametrize("finish", ["error", "content_filter"])
def test_an_answer_that_the_server_broke_off_is_no_message_of_the_model(
    serve, task, sandbox, finish
):
    server = serve({"choices": [{"message": said(""), "finish_reason": finish}]})
    trajectory = rollout(policy_of(server), task, sandbox, n=1).trajectories[0]
    assert trajectory.stop_reason == "abort" and SOLVED.score(trajectory, task).total is None


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": [{"type": "text", "text": "ls"}]},
        {"role": "assistant", "tool_calls": [{"id": "a"}]},
    ],
)
def test_a_message_of_another_form_is_refused_and_shown(serve, task, sandbox, message):
    with pytest.raises(EndpointError, match="expected a chat completion, got .*assistant"):
        rollout(policy_of(serve(message)), task, sandbox, n=1)


def test_a_call_without_arguments_may_have_null_for_them(serve, task, sandbox):
    submit = call("submit")
    submit["tool_calls"][0]["function"]["arguments"] = "null"
    trajectory = rollout(policy_of(serve(submit)), task, sandbox, n=1).trajectories[0]
    assert trajectory.stop_reason == "submitted"


def test_what_comes_without_token_ids_is_not_trained_on(serve, task, sandbox):
    group = rollout(policy_of(serve(call("submit"))), task, sandbox, n=1)
    assert group.trajectories[0].turns[0].action.ids == ()
    with pytest.raises(ValueError, match="expected the token ids of what was said, got none"):
        pack([group], [[1.0]])
    choice = dict(message=call("submit"), token_ids=[7], logprobs={"content": [{"logprob": -1.0}]})
    for answer in (call("submit"), {"choices": [choice]}):  # the second lacks the prompt's ids
        with pytest.raises(EndpointError, match="prompt_token_ids.* got .'choices'. and a choice"):
            rollout(policy_of(serve(answer), token_ids=True), task, sandbox, n=1)


def test_token_ids_and_logprobs_are_kept_where_the_server_tells_them(serve, task, sandbox):
    def answer(message, prompt, ids, logprobs):
        content = [{"token": "?", "logprob": p} for p in logprobs]
        choice = {"message": message, "finish_reason": "stop", "token_ids": ids}
        choice["logprobs"] = {"content": content}
        return {"prompt_token_ids": prompt, "choices": [choice]}

    server = serve(
        answer(call("ls"), [1, 2, 3], [7, 8], [-0.5, -0.25]),
        answer(call("submit"), [1, 2, 3, 7, 8, 4, 5], [9, 8], [-1.0, -0.125]),
    )
    group = rollout(policy_of(server, token_ids=True), task, sandbox, n=1)
    assert server.asked[0]["return_token_ids"] is True and server.asked[0]["logprobs"] is True
    batch = pack([group], [[1.0]])
    assert batch.ids[batch.attention_mask].tolist() == [1, 2, 3, 7, 8, 4, 5, 9, 8]
    assert batch.ids[batch.loss_mask].tolist() == [7, 8, 9, 8]
    assert batch.old_logprobs[batch.loss_mask].tolist() == [-0.5, -0.25, -1.0, -0.125]


def test_a_prompt_that_was_rendered_otherwise_begins_a_new_row():
    """The server's template dropped the thinking (7) of the last turn."""
    assert heard_ids((1, 2, 7, 8), [1, 2, 8, 4]) == (2, (8, 4))
    assert heard_ids((), [1, 2]) == (0, (1, 2)) and heard_ids((1,), None) == (0, ())


def test_a_message_comes_back_as_it_was_said():
    message = {**call("cat", file="lib.py"), "content": "I look.", "reasoning_content": "hm"}
    text = text_of(message)
    assert text.startswith("<think>hm</think>\nI look.\n<tool_call>")
    again = assistant_message(text, "call_0")
    assert again["content"] == "I look."
    assert again["tool_calls"][0]["id"] == "call_0"
    function = again["tool_calls"][0]["function"]
    assert function["name"] == "cat" and json.loads(function["arguments"]) == {"file": "lib.py"}
    broken = call("cat")
    broken["tool_calls"][0]["function"]["arguments"] = "{not json"
    assert assistant_message(text_of(broken), "x")["tool_calls"][0]["function"]["arguments"] == (
        "{not json"
    )
    assert assistant_message("<tool_call>{}", "x") == {
        "role": "assistant", "content": "<tool_call>{}",
    }  # fmt: skip


def test_a_copied_conversation_goes_on_by_itself(serve):
    server = serve(call("ls"), said("a"), said("b"))
    session = policy_of(server).open(1, seed=1)
    session.observe(0, "fix f")
    session.act([0])
    copies = session.take([0, 0])
    for i in (0, 1):
        copies.observe(i, "lib.py")
    assert {action.text for action in copies.act([0, 1])} == {"a", "b"}
    assert server.asked[1]["messages"] == server.asked[2]["messages"]
    assert server.asked[1]["seed"] != server.asked[2]["seed"]
    session.close(), copies.close()
