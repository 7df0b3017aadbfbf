"""The contracts by name: built in, and those that installed packages bring."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from steelyard.contracts.check_rubric.contract import CHECK_RUBRIC
from steelyard.contracts.contract import Contract, Kind, Reader
from steelyard.contracts.dataset_document.contract import DATASET_DOCUMENT
from steelyard.contracts.eval_cases.contract import EVAL_CASES
from steelyard.contracts.evals_json.contract import EVALS_JSON
from steelyard.contracts.judge.contract import JUDGE
from steelyard.contracts.legal_eval.contract import LEGAL_EVAL
from steelyard.contracts.question_rubric.contract import QUESTION_RUBRIC
from steelyard.contracts.question_set.contract import QUESTION_SET
from steelyard.errors import ConfigError

GROUP = "steelyard.contracts"
"""The entry points by which a package brings a contract."""
BUILT_IN: tuple[Contract, ...] = (
    LEGAL_EVAL,
    DATASET_DOCUMENT,
    EVAL_CASES,
    QUESTION_SET,
    QUESTION_RUBRIC,
    CHECK_RUBRIC,
    JUDGE,
    EVALS_JSON,
)
"""In the order in which their keys are looked for: the first that a file has decides."""
KINDS: tuple[Kind, ...] = ("dataset", "rubric", "judge")


class Contracts:
    """Finds a contract by its name or kind."""

    def __init__(self, contracts: Iterable[Contract] = BUILT_IN) -> None:
        self._by_name: dict[str, Contract] = {}
        for contract in contracts:
            if contract.name in self._by_name:
                raise ConfigError(f"two contracts are called '{contract.name}'")
            self._by_name[contract.name] = contract
        self.all = tuple(self._by_name.values())
        self.datasets = self.of_kind("dataset")

    def __getitem__(self, name: str) -> Contract:
        return self._by_name[name]

    def get(self, name: str) -> Contract | None:
        """The contract of this name, where there is one."""
        return self._by_name.get(name)

    def in_memory(self, name: str) -> Contract:
        """The contract of cases in memory; one that has no rows of its own has eval cases."""
        found, other = self.get(name), self.default(".jsonl")
        if found is None:
            return replace(other, name=name)
        if found.row:
            return found
        return replace(found, row=other.row, shows_files=other.shows_files)

    def of_kind(self, kind: str) -> tuple[str, ...]:
        """The names of the contracts of a kind."""
        return tuple(one.name for one in self.all if one.kind == kind)

    def read_by(self, name: str, reader: Reader) -> Contracts:
        """The same contracts, one of them with another reader."""
        return Contracts(
            replace(one, reader=reader) if one.name == name else one for one in self.all
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All names, those of datasets first."""
        return tuple(name for kind in KINDS for name in self.of_kind(kind))

    @property
    def writable(self) -> tuple[str, ...]:
        """The names of the datasets that cases can be converted to."""
        return tuple(one.name for one in self.all if one.writers and one.fitter)

    @property
    def supported(self) -> str:
        """What files there are, in the words of a message."""
        *others, last = [one.described for one in self.all]
        return f"{', '.join(others)} and {last}"

    def default(self, extension: str) -> Contract:
        """The contract of a dataset that no key identifies."""
        return next(one for one in self.all if extension in one.default_for)


def load_contract(name: str, load: Callable[[], object]) -> Contract:
    """The contract of a plug-in; whatever is wrong with the plug-in is a ConfigError."""
    try:
        found = load()
    except (Exception, SystemExit) as wrong:  # noqa: BLE001 - a package may raise anything
        reason = f"{type(wrong).__name__}: {wrong}"
        raise ConfigError(f"the contract '{name}' cannot be loaded: {reason}") from None
    if not isinstance(found, Contract) or found.kind != "dataset" or not found.reader:
        message = f"the contract '{name}' must be a Contract of datasets with a reader"
        raise ConfigError(f"{message}; {GROUP} leads to: {found!r:.80}")
    return found
