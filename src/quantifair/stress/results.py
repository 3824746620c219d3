"""What a stress test found: frozen, printable, and the same in JSON and in a frame."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from quantifair.errors import InputError, did_you_mean
from quantifair.serialisation import Shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quantifair.diagnostics import Caution


@dataclass(frozen=True)
class Performance:
    """How well an estimator does.

    Attributes
    ----------
    error, error_se
        Mean absolute error of the demographic parity difference, and its standard error.
    bias, bias_se
        Mean of estimate minus truth, and its standard error.
    answered
        Share of the draws with an estimate. Errors are of these.
    """

    error: float
    error_se: float
    bias: float
    bias_se: float
    answered: float


@dataclass(frozen=True)
class Coverage:
    """How well the score interval does.

    Attributes
    ----------
    coverage, coverage_se
        Share of the intervals that hold the truth, and its standard error.
    width
        Median width.
    answered
        Share of the draws with an interval, of those where one was sought.
    """

    coverage: float
    coverage_se: float
    width: float
    answered: float


@dataclass(frozen=True)
class SettingResult:
    """One strength of a shift.

    Attributes
    ----------
    what, strength
        What was varied, and its value.
    draws
        Drawn deployments, over all partitions.
    rows
        Median of their rows.
    estimators
        By name.
    interval
        The interval.
    """

    what: str
    strength: float
    draws: int
    rows: int
    estimators: dict[str, Performance]
    interval: Coverage


@dataclass(frozen=True)
class FamilyResult:
    """One family of shifts.

    Attributes
    ----------
    name, meaning, axis
        What was replayed, and what its strength is.
    settings
        By strength.
    estimators, interval
        Over all strengths.
    ranking
        Estimators with an answer in nine draws of ten, by their mean absolute error in the draws
        that all of them answer.
    as_good
        Those whose error exceeds the least by no more than the standard error of the difference,
        paired by partition; the best is among them.
    beats_auxiliary
        Whether the best errs less, beyond chance, than the auxiliary sample alone (``mlpe``);
        ``None`` where the tables do not differ, so that it need not.
    interval_holds
        False where coverage lies further below the level than chance explains (one-sided, 5%), true
        where it is within its standard error, else ``None``: the replays do not tell.
    sentence
        The same in words.
    """

    name: str
    meaning: str
    axis: str
    settings: tuple[SettingResult, ...]
    estimators: dict[str, Performance]
    interval: Coverage
    ranking: tuple[str, ...]
    as_good: tuple[str, ...]
    beats_auxiliary: bool | None
    interval_holds: bool | None
    sentence: str


@dataclass(frozen=True, repr=False)
class StressResult(Shown):
    """What a stress test found; made by ``Audit.stress``.

    Standard errors are clustered by partition. They tell what another seed would change. As all
    partitions share the same people, they do not tell what another auxiliary table would.

    Attributes
    ----------
    families
        By family of shifts.
    partitions
        How often people were split in halves.
    warnings
        What the reader has to know.
    settings, versions
        How it was made.
    """

    families: tuple[FamilyResult, ...]
    partitions: int
    warnings: tuple[Caution, ...]
    settings: dict[str, Any]
    versions: dict[str, str]

    def __getitem__(self, name: str) -> FamilyResult:
        """Return the family of that name."""
        for family in self.families:
            if family.name == name:
                return family
        known = [f.name for f in self.families]
        raise InputError(f"no shift {name!r} was replayed; {did_you_mean(name, known)}")

    def summary(self) -> list[dict[str, Any]]:
        """Return one row for each family: the best estimator, those as good, and the interval."""
        return [
            {
                "shift": f.name,
                "meaning": f.meaning,
                "best": f.ranking[0] if f.ranking else None,
                "error": f.estimators[f.ranking[0]].error if f.ranking else None,
                "as_good": list(f.as_good),
                "beats_auxiliary": f.beats_auxiliary,
                "coverage": None if math.isnan(f.interval.coverage) else f.interval.coverage,
                "interval_holds": f.interval_holds,
                "sentence": f.sentence,
            }
            for f in self.families
        ]

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a row for each family, setting and estimator, with the setting's interval.

        Parameters
        ----------
        backend
            ``pandas``, ``polars`` or ``pyarrow``.
        """
        import narwhals as nw

        if backend not in {"pandas", "polars", "pyarrow"}:
            raise InputError(
                f"no backend {backend!r}; {did_you_mean(backend, ['pandas', 'polars', 'pyarrow'])}"
            )
        rows = [
            {
                "shift": f.name,
                "what": s.what,
                "strength": s.strength,
                "estimator": name,
                **asdict(performance),
                "coverage": s.interval.coverage,
                "coverage_se": s.interval.coverage_se,
                "width": s.interval.width,
                "draws": s.draws,
                "rows": s.rows,
            }
            for f in self.families
            for s in f.settings
            for name, performance in s.estimators.items()
        ]
        columns = {key: [row[key] for row in rows] for key in rows[0]}
        return nw.from_dict(columns, backend=backend).to_native()  # type: ignore[arg-type]

    def plot(self, *, axes: Any = None) -> NDArray[Any]:
        """Draw error and coverage against the strength of each shift; takes matplotlib.

        Parameters
        ----------
        axes
            Array of matplotlib axes of shape ``(2, panels)``, one panel for each thing that was
            varied; by default those of a new figure.

        Returns
        -------
        NDArray
            The axes that were drawn in.
        """
        from quantifair.stress.figure import draw_stress

        return draw_stress(self, axes)

    def __str__(self) -> str:
        from quantifair.stress.text import stress_text

        return stress_text(self)

    __repr__ = __str__


Panel = tuple[FamilyResult, str, tuple[SettingResult, ...]]


def panels(result: StressResult) -> list[Panel]:
    """Return the settings that make up a curve: of one family, with the same thing varied."""
    return [
        (family, what, tuple(s for s in family.settings if s.what == what))
        for family in result.families
        for what in dict.fromkeys(s.what for s in family.settings)
    ]
