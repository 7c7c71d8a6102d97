# mypy: allow-empty-bodies
# Every function is awaited: x = await keywords.defaults(…)
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

class AdditionalPropertiesO(TypedDict):
    foo: NotRequired[Any]  # any JSON value
    bar: NotRequired[Any]  # any JSON value
    # keys that match ^v: int

TildeField: TypeAlias = "int"

SlashField: TypeAlias = "int"

PercentField: TypeAlias = "int"

Int: TypeAlias = "int"

class OneOfComplexXOption1(TypedDict):
    bar: int

class OneOfComplexXOption2(TypedDict):
    foo: str

QuotesInValuesO = TypedDict(
    "QuotesInValuesO",
    {
        "my-key": NotRequired[Literal["it's", "say \"hi\"", "back\\slash"]],
        "other-key": 'NotRequired[Literal["a", "b"]]',
    },
)

class Item(TypedDict):
    n: NotRequired[int]

TypeWordsAsKeysO = TypedDict(
    "TypeWordsAsKeysO",
    {
        "list": "NotRequired[str]",
        "str": "NotRequired[list[str]]",
        "Any": "NotRequired[Any]",  # any JSON value
    },
)

class UnevaluatedO(TypedDict):
    b: NotRequired[str]
    a: NotRequired[str]

class keywords:
    @staticmethod
    async def additional_properties(*, o: AdditionalPropertiesO = ...) -> Any:  # no output schema
        ...

    @staticmethod
    async def all_of(
        *,
        n: int = ...,  # <= 30; >= 20
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def all_of_number_and_integer(*, n: int = ...) -> Any:  # no output schema
        ...

    @staticmethod
    async def any_of_with_base(
        *,
        s: str = ...,  # at most 2 characters; at least 4 characters
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def anything_of_anything(
        *,
        x: Any = ...,  # any JSON value
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def const_object(
        *,
        c: dict[str, Any] = ...,  # exactly {"a": [1, None]}
        l: list[Any] = ...,  # exactly ["x"]
        t: Literal[True] = ...,
        f: Literal[False] = ...,
        z: Literal[0] = ...,
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def contains(
        *,
        l: list[Any] = ...,  # at least one item is type integer, minimum 5; at least 2 of those items; items of any type
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def defaults(
        *,
        i: int = ...,  # default 5
        s: str = ...,  # default "a\"b"
        l: list[int] = ...,  # default [1, 2]
        o: dict[str, Any] = ...,  # default {"a": True}; any keys
        r: int,  # default 7
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def dependencies(*, a: int = ..., b: int = ..., c: int = ...) -> Any:  # no output schema
        """a needs b
        if b is given: c {"type":"integer"}
        """
        ...

    @staticmethod
    async def dependent_schemas(*, card: str = ..., address: str = ...) -> Any:  # no output schema
        ...

    @staticmethod
    async def deprecated_and_read_only(
        *,
        a: str = ...,  # deprecated
        b: str = ...,  # read only
        c: str = ...,  # write only
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def enum_of_all_kinds(
        *,
        e: Literal[6, "foo", True] | list[Any] | dict[str, Any] | float | None = ...,  # exactly []; exactly {"foo": 12}; 1.5
        d: Literal[0, False] = ...,
        n: None = ...,
        nul: Literal["a\x00b", "hello"] = ...,
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def escaped_refs(
        *,
        tilde: TildeField = ...,
        slash: SlashField = ...,
        percent: PercentField = ...,
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def examples(
        *,
        when: str = ...,  # such as "tomorrow", "in 2 hours"
        l: list[int] = ...,  # at least one item is 1; at least 1 of those items; at most 2 of those items
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def if_then_else(
        *,
        country: str = ...,
        zip: Any = ...,  # matches [0-9]{5}; any JSON value
    ) -> Any:  # no output schema
        """if country is "US": zip {"pattern":"[0-9]{5}"}
        unless country is "US": zip {"type":"string","maxLength":8}
        """
        ...

    @staticmethod
    async def infinite_loop_detection(*, foo: Int = ..., **extra: Int) -> Any:  # no output schema
        ...

    @staticmethod
    async def lengths(
        *,
        s: str = ...,  # 2..3 characters
        l: list[int] = ...,  # 1..2 items
        o: dict[str, int] = ...,  # exactly 2 keys
        u: list[str] = ...,  # no two alike
        m: float = ...,  # a multiple of 0.01
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def lookahead_pattern(
        *,
        s: str = ...,  # matches ^(?!x)[a-z]+$
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def nothing_fits(
        *,
        x: str = ...,  # two types at once: nothing fits
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def one_of_complex(*, x: OneOfComplexXOption1 | OneOfComplexXOption2 = ...) -> Any:  # no output schema
        ...

    @staticmethod
    async def order_and_digits(
        *,
        z: int = ...,  # default 9007199254740993
        a: Literal[9007199254740993, -9007199254740993] = ...,
        m: Literal[123456789012345678901234567890],
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def quotes_in_values(*, o: QuotesInValuesO = ...) -> Any:  # no output schema
        ...

    @staticmethod
    async def ref_by_id(*, a: Item = ...) -> Any:  # no output schema
        ...

    @staticmethod
    async def root_all_of(*, a: str, b: str = ...) -> Any:  # no output schema
        ...

    @staticmethod
    async def root_ref(*, a: str) -> Any:  # no output schema
        ...

    @staticmethod
    async def type_words_as_keys(*, o: TypeWordsAsKeysO = ...) -> Any:  # no output schema
        ...

    @staticmethod
    async def unevaluated(*, o: UnevaluatedO = ...) -> Any:  # no output schema
        ...

