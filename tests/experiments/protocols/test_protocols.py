"""What the paper says of every protocol: how many trials, of whom, at which values."""

import numpy as np
import pytest
from tests.experiments import small

from quantifair.experiments.parts import Part, parts_of
from quantifair.experiments.protocols import PROTOCOLS, Protocol, Training
from quantifair.experiments.study import Study

NAMES = ["sample-prev-D3", "sample-prev-D2", "sample-size-D2", "sample-prev-D1", "flip-prev-D1"]
# Sub-protocols x values x samplings, for one partition in one role.
TRIALS = dict(zip(NAMES, (2 * 11 * 10, 2 * 9 * 10, 5 * 10, 11 * 10, 11 * 10), strict=True))


def run(protocol, cells, *, repeats=2, seed=0, part=None):
    """All trials of a protocol with decisions as they are."""
    part = part or cells.auxiliary
    rng = np.random.default_rng(seed)
    trainings = PROTOCOLS[protocol].trainings(part, repeats=repeats, rng=rng)
    return trainings, [
        trial
        for training in trainings
        for trial in PROTOCOLS[protocol].trials(training, cells, repeats=repeats, rng=rng)
    ]


def test_the_five_protocols_in_the_papers_order():
    assert list(PROTOCOLS) == NAMES
    assert Study().protocols == tuple(NAMES)


@pytest.mark.parametrize("dataset", ["adult", "compas", "creditcard"])
@pytest.mark.parametrize("protocol", NAMES)
def test_the_papers_numbers_of_trials(paper_data, dataset, protocol):
    parts = parts_of(paper_data[dataset], 0, "ABC")
    _, trials = run(protocol, small.cells(parts), repeats=10, part=parts.training)
    assert len(trials) == TRIALS[protocol]
    swept = [(trial.sub, trial.value) for trial in trials]
    assert {swept.count(at) for at in swept} == {10}
    assert sorted({trial.repeat for trial in trials}) == list(range(10))


def test_the_paper_makes_about_420_000_estimates():
    study = Study()
    units = [unit for dataset in study.datasets for unit in study.units(dataset)]
    assert len(units) == 3 * 30 * 5
    estimates = sum(TRIALS[unit.protocol] for unit in units) * len(study.methods)
    assert estimates == 3 * 30 * 670 * 7 == 422_100


@pytest.mark.parametrize("protocol", NAMES)
class TestEvery:
    parts = small.parts()
    cells = small.cells(parts)

    def test_trials_keep_to_the_rows_of_their_cells(self, protocol):
        for trial in run(protocol, self.cells)[1]:
            for cell in (0, 1):
                assert np.isin(trial.auxiliary[cell], self.cells.auxiliary_rows[cell]).all()
                assert np.isin(trial.deployment[cell], self.cells.deployment_rows[cell]).all()

    def test_the_seed_decides(self, protocol):
        for seed, same in ((0, True), (1, False)):
            (trained, one), (again, other) = (
                run(protocol, self.cells),
                run(protocol, self.cells, seed=seed),
            )
            arrays = [
                (a, b)
                for x, y in zip(one, other, strict=True)
                for a, b in zip(x.auxiliary + x.deployment, y.auxiliary + y.deployment, strict=True)
            ] + [
                (a, b)
                for x, y in zip(trained, again, strict=True)
                for a, b in ((x.rows, y.rows), (x.labels, y.labels))
            ]
            assert all(np.array_equal(a, b) for a, b in arrays) == same

    def test_repetitions_are_samples_of_their_own(self, protocol):
        trainings, trials = run(protocol, self.cells)
        drawn = {}
        for trial in trials:
            rows = np.concatenate(trial.auxiliary + trial.deployment)
            drawn.setdefault((trial.sub, trial.value), []).append(rows)
        if len(trainings) > 1:  # then it is trainings that are sampled
            drawn = {}
            for training in trainings:
                drawn.setdefault(("", training.value), []).append(training.rows)
        whole = ("", float(len(self.parts.auxiliary)))
        for at, (one, other) in drawn.items():
            assert at == whole or not np.array_equal(one, other)

    def test_nobody_in_a_cell_is_no_error(self, protocol):
        """The audited classifier accepts nobody: there are as many trials, to be refused."""
        everybody = [np.arange(len(part)) for part in self.parts[1:]]
        nobody = np.array([], dtype=np.int64)
        cells = self.cells.__class__(*self.parts[1:], *[(rows, nobody) for rows in everybody])
        _, trials = run(protocol, cells)
        assert len(trials) == TRIALS[protocol] / 5
        for trial in trials:
            assert len(trial.auxiliary[1]) == len(trial.deployment[1]) == 0


@pytest.mark.parametrize("protocol", ["sample-prev-D3", "sample-prev-D2", "sample-size-D2"])
def test_the_audited_classifier_is_trained_on_everybody_unless_a_protocol_distorts(protocol):
    part = small.parts().training
    (training,) = PROTOCOLS[protocol].trainings(part, repeats=10, rng=np.random.default_rng(0))
    assert np.array_equal(training.rows, np.arange(len(part)))
    assert training.labels is part.label


def test_a_protocol_says_at_least_its_trials():
    with pytest.raises(TypeError, match="abstract"):
        Protocol()


def test_what_is_drawn_does_not_depend_on_features():
    """Protocols know rows, groups and labels; nothing else of the people."""
    parts = small.parts()
    blank = [Part(part.features * 0, part.group, part.label) for part in parts]
    cells, bare = small.cells(parts), small.cells(type(parts)(*blank))
    for protocol in NAMES:
        for one, other in zip(run(protocol, cells)[1], run(protocol, bare)[1], strict=True):
            for a, b in zip(one.auxiliary, other.auxiliary, strict=True):
                assert np.array_equal(a, b)


def test_a_training_without_a_sweep_has_no_value():
    assert np.isnan(Training(np.arange(2), np.arange(2)).value)
