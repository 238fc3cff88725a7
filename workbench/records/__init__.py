"""What flows through the workbench: frozen records, JSON in and out.

Stage: all of them. `tasks` go in; `attempts` and their `verdicts` come out, in `groups`, and are
paid `rewards`; `json_form` stores any of them, `arguments` checks what a caller gave. Every other
room imports this one and this one imports only `encoding`, so a stored run can be read without
torch. Left out: anything computed from these records (rewards, advantages, plots).
"""

from workbench.records.attempts import (
    Action,
    Agent,
    SamplerSettings,
    StopReason,
    ToolCall,
    Trajectory,
    Turn,
)
from workbench.records.groups import (
    AgentsValue,
    Group,
    StoredRun,
    SubsetValue,
    TurnValue,
    groups_and_tasks,
    in_numbers,
)
from workbench.records.json_form import SCHEMA, from_json, to_json
from workbench.records.rewards import RewardBreakdown, RewardPart
from workbench.records.tasks import Case, Limits, Task, WrongSolution, files_hash
from workbench.records.verdicts import (
    UNSCORABLE,
    Evidence,
    Finding,
    Suite,
    TestOutcome,
    TestStatus,
    Verdict,
    VerdictMode,
    VerdictStatus,
)

__all__ = [
    "SCHEMA",
    "UNSCORABLE",
    "Action",
    "Agent",
    "AgentsValue",
    "Case",
    "Evidence",
    "Finding",
    "Group",
    "Limits",
    "RewardBreakdown",
    "RewardPart",
    "SamplerSettings",
    "StopReason",
    "StoredRun",
    "SubsetValue",
    "Suite",
    "Task",
    "TestOutcome",
    "TestStatus",
    "ToolCall",
    "Trajectory",
    "Turn",
    "TurnValue",
    "Verdict",
    "VerdictMode",
    "VerdictStatus",
    "WrongSolution",
    "files_hash",
    "from_json",
    "groups_and_tasks",
    "in_numbers",
    "to_json",
]
