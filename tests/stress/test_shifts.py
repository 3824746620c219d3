"""Each family of shifts: what is drawn has the property that the family promises."""

import numpy as np
import pytest
from tests.stress.surveys import AUDIT, read, survey

from quantifair.errors import InputError
from quantifair.stress import SHIFTS, Composition, Covariate, Drift, NoShift, PriorShift, Size
from quantifair.stress.drawing import draw
from quantifair.stress.shifts import at_share


def drawn(chances, draws=1, seed=0):
    return draw(*chances, draws, np.random.default_rng(seed))


@pytest.fixture(scope="module")
def parts():
    return read(survey(2_000, seed=1)), read(survey(2_000, seed=2))


def test_without_shift_everybody_has_the_same_chance(parts):
    (setting,) = NoShift().settings(*parts)
    assert np.ptp(setting.deployment.keep) == 0
    assert setting.fewer is None
    assert setting.mix is None


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_prior_shift_hits_the_share_in_one_cell_and_leaves_the_other(parts, share):
    _, held = parts
    for decision, setting in enumerate(PriorShift((share,)).settings(*parts)):
        assert setting.what == f"b among ok={('no', 'yes')[decision]}"
        for kept in drawn(setting.deployment, draws=3):
            cell = kept & (held.decision == decision)
            assert abs(held.codes[cell].sum() - share * cell.sum()) <= 1
            other = held.decision != decision
            natural = held.codes[other].mean()
            error = 4 * np.sqrt(natural * (1 - natural) * 0.2 / kept[other].sum())
            assert abs(held.codes[kept & other].mean() - natural) < error


def test_a_share_of_nobody_draws_nobody():
    nobody, some = np.zeros(3, dtype=bool), np.array([True, True, False])
    assert at_share(np.ones(3), nobody, some, 0.5).tolist() == [0, 0, 1]
    assert at_share(np.ones(3), nobody, some, 0.0).tolist() == [1, 1, 1]


def test_prior_shift_hits_the_share_of_the_weight():
    audit = type(AUDIT)(decision="ok", group="g", weight="w", training="split")
    table = survey(4_000).assign(w=lambda t: np.where(t["x"] > 0, 3.0, 1.0))
    part = read(table, audit)
    for setting in PriorShift((0.3,)).settings(part, part):
        decision = 0 if setting.what.endswith("no") else 1
        shares = []
        for kept in drawn(setting.deployment, draws=40):
            cell = kept & (part.decision == decision)
            weights = part.weights[cell]
            shares.append(weights[part.codes[cell] == 1].sum() / weights.sum())
        assert abs(np.mean(shares) - 0.3) < 4 * np.std(shares) / np.sqrt(40) + 1e-3


def test_of_many_groups_each_is_shifted_in_turn():
    part = read(survey(900, groups="abc"))
    found = [s.what for s in PriorShift((0.5,)).settings(part, part)]
    assert found == [f"{g} among ok={d}" for d in ("no", "yes") for g in "abc"]


def test_covariate_shift_moves_the_feature_and_keeps_the_group_given_it(parts):
    auxiliary, held = parts
    x = held.frame["x"].to_numpy()
    place = np.digitize(x, np.quantile(x, [0.25, 0.5, 0.75]))
    natural = [held.codes[place == q].mean() for q in range(4)]
    for setting in Covariate("x", (-2.0, 2.0)).settings(auxiliary, held):
        kept = drawn(setting.deployment)[0]
        assert np.sign(x[kept].mean() - x.mean()) == np.sign(setting.strength)
        assert abs(held.codes[kept].mean() - held.codes.mean()) > 0.1
        for q, share in enumerate(natural):
            inside = kept & (place == q)
            error = np.sqrt(share * (1 - share) / inside.sum())
            # Within a quarter x moves too, by which the share may change a little.
            assert abs(held.codes[inside].mean() - share) < 4 * error + 0.05


def test_the_default_direction_is_the_one_of_most_variation(parts):
    auxiliary, held = parts
    named, default = (
        next(Covariate(feature, (2.0,)).settings(auxiliary, held)).deployment.keep
        for feature in ("x", None)
    )
    # x and z are scaled alike; correlated with the group or not, either may lead.
    other = next(Covariate("z", (2.0,)).settings(auxiliary, held)).deployment.keep
    mixed = np.corrcoef(default, named)[0, 1] ** 2 + np.corrcoef(default, other)[0, 1] ** 2
    assert mixed > 0.95


def test_drift_moves_one_group_alone(parts):
    auxiliary, held = parts
    (setting,) = Drift("z", (2.0,)).settings(auxiliary, held)
    assert np.ptp(setting.deployment.keep[held.codes == 0]) == 0
    z = held.frame["z"].to_numpy()[held.codes == 1]
    assert (np.diff(setting.deployment.keep[held.codes == 1][np.argsort(z)]) >= 0).all()


def test_fewer_auxiliary_people_are_drawn(parts):
    for setting in Size((0.25, 0.5)).settings(*parts):
        assert setting.fewer is not None
        assert drawn(setting.fewer).sum() == setting.strength * len(parts[0].codes)


def test_composition_leaves_the_deployment_alone(parts):
    (natural,) = NoShift().settings(*parts)
    settings = list(Composition((0.2, 0.8)).settings(*parts))
    assert [(s.mix.decision, s.mix.share) for s in settings] == [
        (0, 0.2), (0, 0.8), (1, 0.2), (1, 0.8)
    ]  # fmt: skip
    assert all((s.deployment.keep == natural.deployment.keep).all() for s in settings)


@pytest.mark.parametrize("kind", SHIFTS.values())
def test_every_shift_yields_probabilities(parts, kind):
    for setting in kind().settings(*parts):
        assert setting.deployment.keep.min() >= 0
        assert setting.deployment.keep.max() <= 0.8 + 1e-12


@pytest.mark.parametrize(
    ("kind", "strengths"),
    [
        (PriorShift, {"shares": (1.2,)}),
        (Size, {"fractions": ()}),
        (Covariate, {"strengths": (np.nan,)}),
    ],
)
def test_impossible_strengths_are_refused(kind, strengths):
    with pytest.raises(InputError, match=f"{next(iter(strengths))} are numbers from"):
        kind(**strengths)


def test_a_shift_along_no_order_is_refused(parts):
    auxiliary, held = parts
    with pytest.raises(InputError, match="no feature 'y' to shift"):
        next(Covariate("y").settings(auxiliary, held))
    text = read(survey().assign(town="Rome"))
    with pytest.raises(InputError, match="'town' holds text"):
        next(Covariate("town").settings(text, text))
    flat = read(survey().assign(same=1.0))
    with pytest.raises(InputError, match="'same' is constant"):
        next(Drift("same").settings(flat, flat))
