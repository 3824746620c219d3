"""What a study can be made of, by name; a file of one's own adds to it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any, TypeVar

from quantifair.errors import InputError, did_you_mean
from quantifair.experiments.auditees import AUDITEES, Auditee, EstimatorAuditee
from quantifair.experiments.choice import Chosen
from quantifair.experiments.learners import LEARNERS, Estimator, Learner, Logistic
from quantifair.experiments.methods import ABLATION, CROSSED, METHODS, Method
from quantifair.experiments.protocols import PROTOCOLS, Protocol
from quantifair.experiments.splines import Splines

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

T = TypeVar("T")

STOPPED = "LR-100"
"""Logistic regression stopped after scikit-learn's hundred steps, as in the reference."""


BEST = "best"
"""Chosen in each sample by scores of unseen people, as the package's own ``best``."""


def _learners() -> dict[str, Learner]:
    from sklearn.linear_model import LogisticRegression

    stopped = Estimator(STOPPED, LogisticRegression())
    return {**LEARNERS, STOPPED: stopped, BEST: best()}


def best() -> Chosen:
    """Return the learner that chooses among what the package's own ``best`` tries."""
    lines = tuple(Logistic(f"LR, C={c:g}", strength=c) for c in (1.0, 0.1, 0.01, 0.001))
    small = boosting("boosting")
    large = boosting("boosting, larger", max_leaf_nodes=16, learning_rate=0.1, max_features=0.5)
    return Chosen(BEST, lines, ((Splines(),), (small, large)))


def boosting(name: str, **options: Any) -> Estimator:
    """Return small gradient boosting, with other options where they are given."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    trees = HistGradientBoostingClassifier(
        max_iter=100,
        learning_rate=0.05,
        max_leaf_nodes=8,
        l2_regularization=10.0,
        early_stopping=False,
        random_state=0,
    )
    return Estimator(name, trees.set_params(**options))


def _auditees() -> dict[str, Auditee]:
    from sklearn.linear_model import LogisticRegression

    stopped = EstimatorAuditee(STOPPED, LogisticRegression(class_weight="balanced"))
    return {**AUDITEES, STOPPED: stopped}


@dataclass(frozen=True)
class Catalogue:
    """Everything that a study may name.

    Attributes
    ----------
    protocols, learners, auditees, methods
        By name.
    files
        Files that added to it.
    """

    protocols: Mapping[str, Protocol] = field(default_factory=lambda: PROTOCOLS)
    learners: Mapping[str, Learner] = field(default_factory=_learners)
    auditees: Mapping[str, Auditee] = field(default_factory=_auditees)
    methods: Mapping[str, Method] = field(default_factory=lambda: METHODS | ABLATION | CROSSED)
    files: tuple[Path, ...] = ()

    def extended(self, path: Path) -> Catalogue:
        """Return the catalogue with what the variables of a Python file hold.

        Parameters
        ----------
        path
            A file with instances of ``Method``, ``Protocol``, or of anything that fits or decides
            as a ``Learner`` or an ``Auditee`` does, at its top level.
        """
        found = [v for n, v in vars(_module(path)).items() if not n.startswith("_")]
        new = [v for v in found if not isinstance(v, type) and hasattr(v, "name")]
        methods = {v.name: v for v in new if isinstance(v, Method)}
        protocols = {v.name: v for v in new if isinstance(v, Protocol)}
        learners = {v.name: v for v in new if hasattr(v, "fit")}
        auditees = {v.name: v for v in new if hasattr(v, "decide")}
        if not (methods or protocols or learners or auditees):
            raise InputError(f"{path} holds no Method, Protocol, learner or auditee")
        return replace(
            self,
            protocols={**self.protocols, **protocols},
            learners={**self.learners, **learners},
            auditees={**self.auditees, **auditees},
            methods={**self.methods, **methods},
            files=(*self.files, path.resolve()),
        )


def pick(known: Mapping[str, T], name: str, kind: str) -> T:
    """Return what is known by a name.

    Examples
    --------
    >>> pick({"LR": 1}, "LR", "learner")
    1
    """
    if name not in known:
        raise InputError(f"no {kind} {name!r}; {did_you_mean(name, known)}")
    return known[name]


def _module(path: Path) -> Any:
    # A name that no importable module has; workers get what is defined there by value.
    spec = spec_from_file_location(f"_plugin_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InputError(f"there is no Python file {path}")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"{path} can't be run: {type(error).__name__}: {error}") from error
    finally:
        del sys.modules[spec.name]
    return module
