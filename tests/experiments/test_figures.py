"""The figures of the reproduction: what is drawn is what the frames say, with the same bytes."""

from __future__ import annotations

import re
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from quantifair import InputError
from quantifair.experiments.figures import (
    ABLATION,
    METHODS,
    decoupling_figure,
    error_boxplots,
    error_figure,
    paper_figures,
    save,
)

SUBS = ("rejected", "accepted")
ELEVENTHS = np.linspace(0, 1, 11)


def errors(protocol="sample-prev-D3", *, subs=SUBS, values=ELEVENTHS, methods=METHODS, trials=30):
    """Random errors of a protocol; the natural prevalence is 0.62 or 0.87."""
    rng = np.random.default_rng(7)
    keys = [(s, v) for s in subs for v in values for _ in range(trials)]
    frame = pd.DataFrame(keys, columns=["sub", "value"])
    frame = frame.assign(dataset="adult", learner="LR", protocol=protocol)
    frame["truth"] = rng.uniform(-0.3, 0.4, len(frame))
    frame["natural"] = np.where(frame["sub"] == "accepted", 0.87, 0.62)
    noise = rng.standard_t(3, (len(frame), len(methods))) * 0.1
    return frame.assign(**dict(zip(methods, noise.T, strict=True)))


def summary(protocol="sample-prev-D2"):
    rng = np.random.default_rng(3)
    keys = [(s, v, m) for s in SUBS for v in (0.1, 0.3, 0.2) for m in ("CC", "SLD", "PACC")]
    frame = pd.DataFrame(keys, columns=["sub", "value", "method"])
    scores = pd.DataFrame(rng.uniform(size=(len(frame), 3)), columns=["mae", "f1", "accuracy"])
    frame = pd.concat([frame, scores], axis=1).assign(
        dataset="adult", learner="LR", protocol=protocol
    )
    frame.loc[frame["method"] == "PACC", ["f1", "accuracy"]] = np.nan
    return frame


def panel(frame, methods=METHODS):
    axis = Figure().subplots()
    error_boxplots(frame, methods, axis=axis)
    return axis


def boxes(axis):
    """The rectangles by method, in the order that they were drawn."""
    bars = [c for c in axis.containers if isinstance(c, BarContainer)]
    return {c.get_label(): list(c.patches) for c in bars}


def tick_texts(axis):
    return [t.get_text() for t in axis.get_xticklabels()]


def outliers(axis):
    drawn = [line.get_xydata() for line in axis.lines if line.get_marker() == "D"]
    return np.concatenate(drawn)


def natural(axis):
    lines = [line for line in axis.lines if line.get_label() == "natural prevalence"]
    return [x for line in lines for x in line.get_xdata()]


def text_of(figure):
    return [t.get_text() for legend in figure.legends for t in legend.get_texts()]


class TestBoxes:
    frame = errors(subs=("rejected",))
    axis = panel(frame)

    def test_there_is_one_for_each_method_and_value(self):
        assert {m: len(b) for m, b in boxes(self.axis).items()} == dict.fromkeys(METHODS, 11)
        texts = ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"]
        assert tick_texts(self.axis) == texts

    @pytest.mark.parametrize("method", METHODS)
    def test_they_reach_from_the_first_quartile_to_the_third(self, method):
        for value, box in zip(ELEVENTHS, boxes(self.axis)[method], strict=True):
            sample = self.frame.loc[self.frame["value"] == value, method]
            low, high = np.quantile(sample, [0.25, 0.75])
            assert (box.get_y(), box.get_y() + box.get_height()) == pytest.approx((low, high))

    def test_medians_and_whiskers_are_those_of_the_data(self):
        sample = self.frame.loc[self.frame["value"] == 0, "CC"].to_numpy()
        first, middle, third = np.quantile(sample, [0.25, 0.5, 0.75])
        reach = 1.5 * (third - first)
        inside = sample[(sample >= first - reach) & (sample <= third + reach)]
        starts = [list(line.get_ydata()[:2]) for line in self.axis.lines]
        assert pytest.approx([middle, middle]) in starts
        assert pytest.approx([inside.min(), inside.max()]) in starts

    def test_they_stand_around_their_tick_in_the_order_of_the_methods(self):
        for tick in range(11):
            drawn = [boxes(self.axis)[m][tick] for m in METHODS]
            left = np.array([b.get_x() for b in drawn])
            right = left + [b.get_width() for b in drawn]
            assert (right[:-1] < left[1:]).all()
            assert (left[0] + right[-1]) / 2 == pytest.approx(tick)
            assert tick - 0.5 < left[0]

    def test_trials_without_an_answer_are_left_out(self):
        gaps = self.frame.copy()
        gaps.loc[gaps["value"] == 0.1, "ACC"] = np.nan
        some = gaps["value"] == 0
        gaps.loc[gaps[some].index[:20], "ACC"] = np.nan
        drawn = boxes(panel(gaps))
        assert len(drawn["ACC"]) == 10
        assert len(drawn["CC"]) == 11
        assert drawn["ACC"][0].get_y() == pytest.approx(gaps.loc[some, "ACC"].quantile(0.25))

    def test_a_method_without_any_answer_has_no_box(self):
        assert "ACC" not in boxes(panel(self.frame.assign(ACC=np.nan)))

    def test_methods_differ_without_colour_from_their_neighbours(self):
        first = [boxes(self.axis)[m][0] for m in METHODS]
        hatches = [b.get_hatch() for b in first]
        light = [np.dot(b.get_facecolor()[:3], [0.299, 0.587, 0.114]) for b in first]
        for i in range(len(METHODS) - 1):
            assert hatches[i] != hatches[i + 1] or abs(light[i] - light[i + 1]) > 0.2

    def test_methods_that_the_paper_does_not_know_have_colours_of_their_own(self):
        names = ("mine", "yours", "theirs", "CC")
        drawn = boxes(panel(errors(methods=names, subs=("rejected",)), names))
        assert len({b[0].get_facecolor() for b in drawn.values()}) == 4


class TestOutliers:
    def test_those_that_cover_each_other_are_drawn_once(self):
        sample = np.r_[np.linspace(-0.01, 0.01, 500), np.repeat([0.9, -1.0], 100), 0.9001]
        frame = pd.DataFrame({"protocol": "sample-prev-D1", "sub": "", "value": 0.5, "CC": sample})
        assert outliers(panel(frame, ["CC"])).tolist() == [[0, -1.0], [0, 0.9]]

    def test_each_is_an_error_of_the_frame(self):
        frame = errors(subs=("rejected",))
        drawn = outliers(panel(frame))
        assert len(drawn) > 10
        assert np.isin(drawn[:, 1], frame[list(METHODS)].to_numpy()).all()

    def test_none_that_lies_apart_is_missing(self):
        frame = errors(subs=("rejected",), methods=("CC",), values=[0.5], trials=300)
        sample = frame["CC"].to_numpy()
        first, third = np.quantile(sample, [0.25, 0.75])
        reach = 1.5 * (third - first)
        beyond = sample[(sample < first - reach) | (sample > third + reach)]
        drawn = outliers(panel(frame, ["CC"]))[:, 1]
        away = np.abs(beyond[:, None] - drawn).min(axis=1)
        assert 0 < away.max() < np.ptp(sample) / 80

    def test_errors_that_are_all_the_same_are_one_line(self):
        axis = panel(errors(subs=("rejected",), methods=("CC",)).assign(CC=-0.25), ["CC"])
        assert [b.get_height() for b in boxes(axis)["CC"]] == [0.0] * 11
        assert axis.get_ylim()[0] < -0.25


class TestNaturalPrevalence:
    @pytest.mark.parametrize(
        ("values", "where", "place"),
        [
            (ELEVENTHS, 0.62, 6.2),
            (ELEVENTHS, 0.3, 3.0),
            (ELEVENTHS, 0.0, 0.0),
            (np.linspace(0.1, 0.9, 9), 0.62, 5.2),
            (np.linspace(0.1, 0.9, 9), 0.97, 8.7),
            (np.linspace(0.1, 0.9, 9), 0.02, -0.8),
            ([0.1, 0.2, 0.6], 0.5, 1.75),
        ],
    )
    def test_it_lies_between_the_categories(self, values, where, place):
        frame = errors(subs=("rejected",), values=values, trials=2).assign(natural=where)
        axis = panel(frame)
        assert natural(axis) == pytest.approx([place, place])
        low, high = axis.get_xlim()
        assert low < place < high

    def test_it_is_the_mean_over_the_trials(self):
        frame = errors(subs=("rejected",), trials=2)
        frame["natural"] = np.where(np.arange(len(frame)) % 2, 0.6, 0.7)
        assert natural(panel(frame)) == pytest.approx([6.5, 6.5])

    @pytest.mark.parametrize("protocol", ["sample-size-D2", "flip-prev-D1"])
    def test_an_axis_that_is_no_prevalence_has_none(self, protocol):
        assert natural(panel(errors(protocol, subs=("",)))) == []

    def test_there_is_none_where_it_is_unknown(self):
        assert natural(panel(errors(subs=("",)).assign(natural=np.nan))) == []
        assert natural(panel(errors(subs=("",)).drop(columns="natural"))) == []

    def test_one_value_alone_has_no_scale_to_mark_it_on(self):
        assert natural(panel(errors(subs=("",), values=[0.5]))) == []


class TestAxes:
    def test_flipping_is_shown_by_the_true_disparity_to_one_decimal(self):
        truth = [-0.34, -0.26, -0.04, 0.04, 0.06, 0.31]
        frame = pd.DataFrame({"protocol": "flip-prev-D1", "sub": "", "truth": truth})
        frame["CC"] = np.arange(6.0)
        axis = panel(frame, ["CC"])
        minus = "\N{MINUS SIGN}"
        names = [f"{minus}0.3", f"{minus}0.2", f"{minus}0.1", "0", "0.1", "0.2", "0.3"]
        assert tick_texts(axis) == names
        centres = [b.get_x() + b.get_width() / 2 for b in boxes(axis)["CC"]]
        assert centres == pytest.approx([0, 3, 4, 6])
        assert [b.get_y() for b in boxes(axis)["CC"]] == [0.25, 2.25, 4, 5]
        assert "delta_h" in axis.get_xlabel()

    def test_a_disparity_that_rounds_to_zero_has_no_sign(self):
        frame = pd.DataFrame({"protocol": "flip-prev-D1", "sub": "", "truth": [-0.04, 0.11]})
        assert tick_texts(panel(frame.assign(CC=0.0), ["CC"])) == ["0", "0.1"]

    def test_sizes_are_categories(self):
        axis = panel(errors("sample-size-D2", subs=("",), values=[15074, 1000, 3882]))
        assert tick_texts(axis) == ["1,000", "3,882", "15,074"]

    def test_a_value_with_rounding_error_is_the_same_value(self):
        axis = panel(errors(subs=("",), values=[0.3, 0.1 + 0.2, 0.4]))
        assert tick_texts(axis) == ["0.3", "0.4"]

    def test_zero_is_marked_as_optimal(self):
        lines = [x for x in panel(errors(subs=("",))).lines if x.get_label() == "optimal"]
        assert [list(x.get_ydata()) for x in lines] == [[0, 0]]
        assert lines[0].get_linestyle() == "--"

    @pytest.mark.parametrize(("sub", "sign"), [("rejected", "ominus"), ("accepted", "oplus")])
    def test_the_label_says_which_decision(self, sub, sign):
        assert sign in panel(errors(subs=(sub,))).get_xlabel()

    def test_a_protocol_of_somebody_else_is_drawn_too(self):
        figure = error_figure(errors("drift", subs=("",)), METHODS)
        assert figure.axes[0].get_xlabel() == "swept value"


class TestFigures:
    def test_sub_protocols_are_stacked_rejected_first(self):
        frame = errors(subs=("accepted", "rejected"))
        figure = error_figure(frame, METHODS, title="adult, LR")
        upper, lower = figure.axes
        assert upper.get_title() == r"(a) sample-prev-$\mathcal{D}_{3}^{\ominus}$"
        assert lower.get_title() == r"(b) sample-prev-$\mathcal{D}_{3}^{\oplus}$"
        assert natural(upper) == pytest.approx([6.2, 6.2])
        assert natural(lower) == pytest.approx([8.7, 8.7])
        assert upper.get_ylim() == lower.get_ylim()

    def test_one_legend_names_every_method_once(self):
        figure = error_figure(errors(), METHODS, title="adult, LR")
        assert sorted(text_of(figure)) == sorted([*METHODS, "optimal", "natural prevalence"])
        assert figure.legends[0].get_title().get_text() == "adult, LR"

    def test_the_paper_has_one_for_each_protocol_data_set_and_learner(self):
        both = (*METHODS, *ABLATION[1::2])
        frames = [
            errors(methods=both),
            errors("flip-prev-D1", subs=("",)),
            errors("sample-prev-D2", subs=("rejected",)).assign(dataset="compas", learner="SVM"),
        ]
        drawn = paper_figures(
            pd.concat(frames), fairness_aware=errors(), decoupling=summary("sample-prev-D2")
        )
        assert list(drawn) == [
            "flip-prev-D1-adult-LR",
            "sample-prev-D3-adult-LR",
            "ablation-sample-prev-D3-adult-LR",
            "sample-prev-D2-compas-SVM",
            "fairness-aware-sample-prev-D3-adult-LR",
            "decoupling-sample-prev-D2-adult-LR",
        ]
        assert set(ABLATION) <= set(text_of(drawn["ablation-sample-prev-D3-adult-LR"]))
        assert set(METHODS) <= set(text_of(drawn["sample-prev-D3-adult-LR"]))
        assert len(drawn["sample-prev-D2-compas-SVM"].axes) == 1

    def test_an_ablated_method_is_hollow_and_of_the_same_colour(self):
        split, single = boxes(panel(errors(subs=("",), methods=ABLATION), ABLATION[:2])).values()
        assert single[0].get_facecolor() == (1, 1, 1, 1)
        assert single[0].get_edgecolor() == split[0].get_facecolor()

    def test_what_was_not_run_is_not_drawn(self):
        drawn = paper_figures(errors(methods=("CC", "SLD")).assign(PCC=np.nan))
        assert list(drawn) == ["sample-prev-D3-adult-LR"]
        names = text_of(drawn["sample-prev-D3-adult-LR"])
        assert set(names) & {*METHODS} == {"CC", "SLD"}


class TestDecoupling:
    frame = summary()
    figure = decoupling_figure(frame)

    def test_each_line_is_a_measure_of_a_method_over_the_values(self):
        for axis, sub in zip(self.figure.axes, SUBS, strict=True):
            here = self.frame[self.frame["sub"] == sub]
            lines = {line.get_label(): line for line in axis.lines}
            assert len(lines) == 7
            for method in ("CC", "SLD"):
                for measure, name in (("mae", "MAE"), ("f1", "$F_1$"), ("accuracy", "accuracy")):
                    rows = here[here["method"] == method].sort_values("value")
                    line = lines[f"{method} {name}"]
                    assert list(line.get_ydata()) == list(rows[measure])
                    assert list(line.get_xdata()) == [0, 1, 2]
            assert tick_texts(axis) == ["0.1", "0.2", "0.3"]

    def test_only_the_error_is_dashed(self):
        for line in self.figure.axes[0].lines:
            assert line.get_linestyle() == ("--" if line.get_label().endswith("MAE") else "-")

    def test_what_is_not_known_is_not_drawn(self):
        assert {t for t in text_of(self.figure) if "PACC" in t} == {"PACC MAE"}

    def test_it_needs_no_protocol(self):
        figure = decoupling_figure(self.frame[["sub", "value", "method", "mae", "f1", "accuracy"]])
        assert len(figure.axes) == 2


class TestFiles:
    @pytest.mark.parametrize("kind", ["svg", "pdf"])
    def test_the_same_run_gives_the_same_bytes(self, tmp_path, kind):
        for name in ("one", "two"):
            save(error_figure(errors(trials=5), METHODS), tmp_path / f"{name}.{kind}")
        one = (tmp_path / f"one.{kind}").read_bytes()
        assert one == (tmp_path / f"two.{kind}").read_bytes()

    def test_a_figure_can_be_saved_twice(self, tmp_path):
        figure = decoupling_figure(summary())
        save(figure, tmp_path / "one.svg")
        save(figure, tmp_path / "two.svg")
        assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()

    @pytest.mark.parametrize("kind", ["svg", "pdf"])
    def test_another_process_and_another_day_give_the_same_bytes(self, tmp_path, kind):
        frame = errors(trials=5)
        frame.to_parquet(tmp_path / "errors.parquet")
        program = (
            "import sys, pandas as pd\n"
            "from quantifair.experiments.figures import METHODS, error_figure, save\n"
            "save(error_figure(pd.read_parquet(sys.argv[1]), METHODS), sys.argv[2])\n"
        )
        for seed in ("1", "2"):
            arguments = [str(tmp_path / "errors.parquet"), str(tmp_path / f"{seed}.{kind}")]
            environment = {
                "PYTHONHASHSEED": seed,
                "SOURCE_DATE_EPOCH": seed,
                "MPLCONFIGDIR": str(tmp_path),
            }
            subprocess.run([sys.executable, "-c", program, *arguments], check=True, env=environment)  # noqa: S603
        save(error_figure(frame, METHODS), tmp_path / f"here.{kind}")
        here = (tmp_path / f"here.{kind}").read_bytes()
        assert (
            here == (tmp_path / f"1.{kind}").read_bytes() == (tmp_path / f"2.{kind}").read_bytes()
        )

    def test_what_the_user_has_configured_changes_nothing(self, tmp_path):
        save(error_figure(errors(trials=5), METHODS), tmp_path / "plain.svg")
        with mpl.rc_context({"font.size": 20, "svg.fonttype": "none", "axes.grid": True}):
            save(error_figure(errors(trials=5), METHODS), tmp_path / "theirs.svg")
            assert mpl.rcParams["font.size"] == 20
        assert (tmp_path / "plain.svg").read_bytes() == (tmp_path / "theirs.svg").read_bytes()

    @pytest.mark.parametrize(("kind", "word"), [("svg", rb"dc:date"), ("pdf", rb"CreationDate")])
    def test_there_is_no_clock_in_them(self, tmp_path, kind, word):
        path = tmp_path / f"figure.{kind}"
        save(decoupling_figure(summary()), path)
        assert word not in path.read_bytes()
        assert not re.search(rb"20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d", path.read_bytes())

    def test_the_largest_of_the_paper_is_small(self, tmp_path):
        save(error_figure(errors(trials=300), METHODS), tmp_path / "figure.svg")
        assert (tmp_path / "figure.svg").stat().st_size < 300_000

    @pytest.mark.parametrize("name", ["figure.png", "figure", "figure.SVGZ"])
    def test_other_formats_are_refused(self, tmp_path, name):
        with pytest.raises(InputError, match=r"written as \.svg or \.pdf, not as 'figure"):
            save(Figure(), tmp_path / name)
        assert not (tmp_path / name).exists()


class TestRefusals:
    def test_without_matplotlib_the_error_says_what_to_install(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        for draw in (lambda: error_figure(errors(), METHODS), lambda: decoupling_figure(summary())):
            with pytest.raises(InputError, match=r"pip install quantifair\[experiments\]"):
                draw()

    def test_matplotlib_is_loaded_when_first_needed(self):
        code = "import quantifair.experiments.figures, sys; sys.exit('matplotlib' in sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603

    def test_drawing_leaves_pyplot_alone(self, tmp_path):
        code = (
            "import sys, pandas as pd; from quantifair.experiments.figures import *\n"
            "frame = pd.DataFrame({'protocol': 'p', 'sub': '', 'value': 1.0, 'CC': [0.1, 0.2]})\n"
            "save(error_figure(frame, ['CC']), sys.argv[1])\n"
            "sys.exit('matplotlib.pyplot' in sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "x.svg")], check=True)  # noqa: S603

    @pytest.mark.parametrize(
        ("frame", "methods", "message"),
        [
            (errors(), ["PAC"], "lacks the column 'PAC'; did you mean 'PACC'"),
            (errors().drop(columns="value"), ["CC"], "lacks the column 'value'"),
            (errors().drop(columns="sub"), ["CC"], "lacks the column 'sub'"),
            (errors("flip-prev-D1").drop(columns="truth"), ["CC"], "lacks the column 'truth'"),
            (errors().iloc[:0], ["CC"], "at least one row"),
            (errors(), [], "at least one method"),
            (errors().assign(sub="refused"), ["CC"], "not 'refused'"),
            (pd.concat([errors("a"), errors("b")]), ["CC"], "one protocol, not"),
        ],
    )
    def test_a_frame_that_cannot_be_drawn_is_refused(self, frame, methods, message):
        with pytest.raises(InputError, match=message):
            error_figure(frame, methods)

    def test_a_panel_shows_one_sub_protocol(self):
        with pytest.raises(InputError, match="a panel shows one sub-protocol"):
            panel(errors())

    def test_a_summary_without_a_measure_is_refused(self):
        with pytest.raises(InputError, match="lacks the column 'accuracy'"):
            decoupling_figure(summary().drop(columns="accuracy"))
