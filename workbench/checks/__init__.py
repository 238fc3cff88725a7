"""Predictions, exercises, hints and results of the notebooks: a nudge, a comparison, no exception.

Stage: outside the loop. In: a reader's guess or function; out: printed lines, and what they come
to. Nothing is written unless `save_results` is called, and nothing is sent anywhere. Left out: any
defence against a reader who cheats; the checks run in the reader's own process.
"""

from workbench.checks.exercises import require, run, same_as
from workbench.checks.memory import guesses, solved
from workbench.checks.open_cases import grade_cases
from workbench.checks.open_design import grade_design
from workbench.checks.open_grader import grade_grader
from workbench.checks.open_reward import grade_reward
from workbench.checks.predictions import predict, reveal
from workbench.checks.questions import QUESTIONS, Question, hint
from workbench.checks.results import QuestionResult, Results, collect, results, save_results
from workbench.checks.stored_cases import stored_cases

__all__ = [
    "QUESTIONS",
    "Question",
    "QuestionResult",
    "Results",
    "collect",
    "grade_cases",
    "grade_design",
    "grade_grader",
    "grade_reward",
    "guesses",
    "hint",
    "predict",
    "require",
    "results",
    "reveal",
    "run",
    "same_as",
    "save_results",
    "solved",
    "stored_cases",
]
