"""What a study may name, and files that add to it."""

import pytest

from quantifair.errors import InputError
from quantifair.experiments.catalogue import BEST, STOPPED, Catalogue, pick
from quantifair.experiments.learners import LEARNERS
from quantifair.experiments.methods import ABLATION, CROSSED, METHODS
from quantifair.experiments.protocols import PROTOCOLS

EVERYTHING = """
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.naive_bayes import GaussianNB

from quantifair.experiments.learners import Estimator
from quantifair.experiments.methods import Method
from quantifair.experiments.protocols import Protocol, Trial
from quantifair.quantifiers import PCC


@dataclass(frozen=True)
class Shuffled(Protocol):
    name = "shuffled"
    times: int = 3

    def trials(self, training, cells, *, repeats, rng):
        for repeat in range(self.times):
            yield Trial("", 0.0, repeat, cells.auxiliary_rows, cells.deployment_rows)


class Coin:
    name = "coin"

    def decide(self, parts, trainings):
        rng = np.random.default_rng(0)
        return tuple(rng.random((len(trainings), len(p))) < 0.5 for p in parts[1:])


shuffled, coin = Shuffled(), Coin()
naive_bayes = Estimator("NB", GaussianNB())
mine = Method("mine", PCC())
again = Method("PCC", PCC(), training="held_out")
_hidden = Method("hidden", PCC())
"""


@pytest.fixture
def extended(tmp_path):
    (tmp_path / "statistics.py").write_text(EVERYTHING)  # a name that Python's library has, too
    return Catalogue().extended(tmp_path / "statistics.py")


def test_it_holds_what_the_paper_uses_and_the_references_classifiers():
    known = Catalogue()
    assert dict(known.protocols) == PROTOCOLS
    assert list(known.learners) == [*LEARNERS, STOPPED, BEST]
    assert list(known.auditees) == ["LR", "fair-tree", STOPPED]
    assert list(known.methods) == list(METHODS | ABLATION | CROSSED)
    for names in (known.protocols, known.learners, known.auditees, known.methods):
        assert all(thing.name == name for name, thing in names.items())


def test_a_file_adds_all_that_it_names(extended, tmp_path):
    known = Catalogue()
    assert set(extended.protocols) - set(known.protocols) == {"shuffled"}
    assert set(extended.learners) - set(known.learners) == {"NB"}
    assert set(extended.auditees) - set(known.auditees) == {"coin"}
    assert set(extended.methods) - set(known.methods) == {"mine"}
    assert extended.files == (tmp_path / "statistics.py",)


def test_a_file_may_replace_what_is_known_and_no_catalogue_but_its_own(extended):
    assert extended.methods["PCC"].training == "held_out"
    assert Catalogue().methods["PCC"].training == "whole"


def test_files_add_up(extended, tmp_path):
    (tmp_path / "more.py").write_text(EVERYTHING.replace('"mine"', '"more"'))
    both = extended.extended(tmp_path / "more.py")
    assert {"mine", "more"} <= set(both.methods)
    assert [path.name for path in both.files] == ["statistics.py", "more.py"]


def test_a_file_does_not_stand_in_for_a_module_of_its_name(extended):
    import statistics

    assert extended.files
    assert statistics.mean([1, 3]) == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = 1", "holds no Method, Protocol, learner or auditee"),
        ("from quantifair.experiments.methods import Method", "holds no Method"),
        ("1 / 0", "can't be run: ZeroDivisionError: division by zero"),
        ("def f(:", "can't be run: SyntaxError"),
        ("import no_such_library", "can't be run: ModuleNotFoundError: No module named"),
    ],
)
def test_a_file_that_does_not_help_is_refused(tmp_path, text, sentence):
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(InputError, match=sentence):
        Catalogue().extended(tmp_path / "mine.py")


@pytest.mark.parametrize("name", ["absent.py", "notes.txt", "."])
def test_what_is_no_python_file_is_refused(tmp_path, name):
    (tmp_path / "notes.txt").write_text("x = 1")
    with pytest.raises(InputError, match="there is no Python file"):
        Catalogue().extended(tmp_path / name)


def test_an_unknown_name_comes_with_a_guess():
    assert pick(METHODS, "SLD", "method") is METHODS["SLD"]
    with pytest.raises(InputError, match="no method 'SDL'; did you mean 'SLD'"):
        pick(METHODS, "SDL", "method")
