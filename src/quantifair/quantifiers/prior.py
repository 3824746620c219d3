"""The baseline that looks at nothing but the auxiliary sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from quantifair.quantifiers.base import Labelled, Quantifier

if TYPE_CHECKING:
    from quantifair.quantifiers.base import FloatArray
    from quantifair.sketch import Points


class MLPE(Quantifier):
    """Maximum likelihood prevalence estimator: the auxiliary prevalences, whatever comes.

    Right where nothing shifted, and a yardstick for everything else.

    Examples
    --------
    >>> MLPE().fit([0.2, 0.9, 0.7, 0.6], ["f", "m", "m", "m"]).predict([0.1]).tolist()
    [0.25, 0.75]
    """

    adjusts: ClassVar[bool] = False
    needs_every_group: ClassVar[bool] = False

    def learn(self, auxiliary: Labelled) -> None:
        """Nothing beyond the prevalences, which every quantifier keeps."""

    def solve(self, deployment: Points) -> FloatArray:
        """Repeat the auxiliary prevalences."""
        shape = np.broadcast_shapes(deployment.weights.shape[:-1], self.prevalence_.shape[:-1])
        return np.array(np.broadcast_to(self.prevalence_, (*shape, len(self.classes_))))
