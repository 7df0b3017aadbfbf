"""What a value that does not fit is answered with."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, inspect

from steelyard.api.application import operations
from steelyard.api.invalid_values import explained
from steelyard.errors import InvalidError


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    """A part of a body."""

    size: Annotated[Literal["small", "large"], Meta(description="How large.")] | None = None


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """A body with a value of every kind."""

    status: Literal["open", "done"] = "open"
    count: Annotated[int, Meta(ge=1, le=3)] | None = None
    tags: list[Literal["a", "b"]] | None = None
    inner: Inner | None = None
    choice: Literal[1, 2] | Literal["none"] = 1


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"status": "x"}, "invalid value 'x' for `status`; one of: done, open"),
        (
            {"status": "a - at `$.count`"},
            "invalid value 'a - at `$.count`' for `status`; one of: done, open",
        ),
        ({"tags": ["a", "c"]}, "invalid value 'c' for `tags[1]`; one of: a, b"),
        ({"inner": {"size": "x"}}, "invalid value 'x' for `inner.size`; one of: large, small"),
        ({"count": 4}, "`count`: expected `int` <= 3"),
        ({"count": "x"}, "`count`: expected `int | null`, got `str`"),
        (
            {"colour": 1},
            "`colour` is not a known field; one of: choice, count, inner, status, tags",
        ),
        ({"cuont": 1}, "`cuont` is not a known field; did you mean 'count'?"),
        ({"inner": {"x": 1}}, "`inner`: `x` is not a known field; one of: size"),
        ({"inner": {"a.b": 1}}, "`inner`: `a.b` is not a known field; one of: size"),
        ([], "Expected `object`, got `array`"),
    ],
    ids=str,
)
def test_a_wrong_value_is_explained(value: Any, message: str) -> None:
    with pytest.raises(msgspec.ValidationError) as wrong:
        msgspec.convert(value, Body)

    assert str(InvalidError(explained(wrong.value, Body))) == message


def choices(kind: inspect.Type) -> set[Any]:
    """The listed values of a field, or of its entries."""
    match kind:
        case inspect.Metadata() | inspect.ListType():
            return choices(kind.type if isinstance(kind, inspect.Metadata) else kind.item_type)
        case inspect.UnionType():
            return {value for one in kind.types for value in choices(one)}
        case inspect.LiteralType():
            return set(kind.values)
        case _:
            return set()


def listed_fields() -> list[tuple[str, type, inspect.Field, set[Any]]]:
    """Every field of a query or a body whose values are listed."""
    found: list[tuple[str, type, inspect.Field, set[Any]]] = []
    for operation in operations():
        for kind in (operation.query, operation.body or dict):
            known = inspect.type_info(kind)
            for field in known.fields if isinstance(known, inspect.StructType) else ():
                if values := choices(field.type):
                    where = f"{operation.method} {operation.path} {field.name}"
                    found.append((where, kind, field, values))
    return found


@pytest.mark.parametrize(
    ("kind", "field", "values"),
    [pytest.param(*rest, id=where) for where, *rest in listed_fields()],
)
def test_every_listed_value_of_the_api_is_named(
    kind: type, field: inspect.Field, values: set[Any]
) -> None:
    known = inspect.type_info(kind)
    assert isinstance(known, inspect.StructType)
    others = {one.name: "name" for one in known.fields if one.required}
    others |= {"role": "admin"} if "role" in others else {}
    wrong = ["x"] if field.name == "scopes" else "x"
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.convert({**others, field.name: wrong}, kind)

    assert explained(raised.value, kind).endswith(f"one of: {', '.join(sorted(values))}")


def test_an_unknown_field_is_an_argument_of_the_error() -> None:
    with pytest.raises(msgspec.ValidationError) as wrong:
        msgspec.convert({"colour": 1}, Body)

    assert InvalidError(explained(wrong.value, Body)).arguments == ("colour",)
