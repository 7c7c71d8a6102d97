# mypy: allow-empty-bodies
# Every function is awaited: x = await shapes._2fa_enable(…)
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

class AllOfRefP(TypedDict):
    name: str
    nick: NotRequired[str]
    age: int

Leaf: TypeAlias = "int"

class AnyOfObjectOrArrayQOption1(TypedDict):
    a: NotRequired[str]

class ClosedEmptyObjectE(TypedDict):
    pass

class DepthA(TypedDict):
    b: NotRequired[DepthAB]

class DepthAB(TypedDict):
    c: NotRequired[DepthABC]

class DepthABC(TypedDict):
    d: NotRequired[DepthABCD]

class DepthABCD(TypedDict):
    e: NotRequired[DepthABCDE]

class DepthABCDE(TypedDict):
    f: NotRequired[DepthABCDEF]

class DepthABCDEF(TypedDict):
    g: NotRequired[DepthABCDEFG]

class DepthABCDEFG(TypedDict):
    h: NotRequired[dict[str, Any]]  # nested deeper: await tools_describe("shapes.depth")

class FourteenVariantsItemsK1(TypedDict):
    kind: Literal["k1"]
    v1: NotRequired[int]

class FourteenVariantsItemsK2(TypedDict):
    kind: Literal["k2"]
    v2: NotRequired[int]

class FourteenVariantsItemsK3(TypedDict):
    kind: Literal["k3"]
    v3: NotRequired[int]

class FourteenVariantsItemsK4(TypedDict):
    kind: Literal["k4"]
    v4: NotRequired[int]

class FourteenVariantsItemsK5(TypedDict):
    kind: Literal["k5"]
    v5: NotRequired[int]

class FourteenVariantsItemsK6(TypedDict):
    kind: Literal["k6"]
    v6: NotRequired[int]

class FourteenVariantsItemsK7(TypedDict):
    kind: Literal["k7"]
    v7: NotRequired[int]

class FourteenVariantsItemsK8(TypedDict):
    kind: Literal["k8"]
    v8: NotRequired[int]

class FourteenVariantsItemsK9(TypedDict):
    kind: Literal["k9"]
    v9: NotRequired[int]

class FourteenVariantsItemsK10(TypedDict):
    kind: Literal["k10"]
    v10: NotRequired[int]

class FourteenVariantsItemsK11(TypedDict):
    kind: Literal["k11"]
    v11: NotRequired[int]

class FourteenVariantsItemsK12(TypedDict):
    kind: Literal["k12"]
    v12: NotRequired[int]

class FourteenVariantsItemsK13(TypedDict):
    kind: Literal["k13"]
    v13: NotRequired[int]

class FourteenVariantsItemsK14(TypedDict):
    kind: Literal["k14"]
    v14: NotRequired[int]

JsonValue: TypeAlias = "str | float | bool | list[JsonValue] | dict[str, JsonValue] | None"

class MapOfIntegersN(TypedDict):
    id: NotRequired[str]
    # any other key: int

class NoTypeO(TypedDict):
    a: NotRequired[int]

X: TypeAlias = "Any"  # refers to itself; any JSON value

class NullableObjectO(TypedDict):
    a: NotRequired[int]

R: TypeAlias = "R2 | None"

class R2(TypedDict):
    b: NotRequired[int]

class A(TypedDict):
    n: NotRequired[int]

class RecursiveRef(TypedDict):
    kids: NotRequired[list[RecursiveRef]]
    n: NotRequired[int]

class RefToRoot(TypedDict):
    child: NotRequired[RefToRoot]
    n: NotRequired[int]

Id: TypeAlias = "str"

Id2: TypeAlias = "str"

class MyTypeV2(TypedDict):
    x: NotRequired[int]

class MyTypeV22(TypedDict):
    y: NotRequired[int]

T2nd: TypeAlias = "int"

None2: TypeAlias = "str"

List: TypeAlias = "bool"

Type: TypeAlias = "float"

class Node(TypedDict):
    value: str
    children: NotRequired[list[Node]]

class A2(TypedDict):
    b: NotRequired[B]

class B(TypedDict):
    a: A2

class VariantsItemsCard(TypedDict):
    kind: Literal["card"]
    number: NotRequired[str]

class VariantsItemsBank(TypedDict):
    kind: Literal["bank"]
    iban: str

class VariantsItemsCashOnDelivery(TypedDict):
    amount: float

WordsOfTheLanguageHeaders = TypedDict(
    "WordsOfTheLanguageHeaders",
    {
        "content-type": "str",
        "class": "NotRequired[int]",
        "__token": "NotRequired[str]",
    },
)

class shapes:
    @staticmethod
    async def _2fa_enable(*, q: str) -> Any:  # no output schema
        """Also shapes["2fa-enable"](...)."""
        ...

    @staticmethod
    async def _2fa_enable_2(
        *,
        ümlaut: str = ...,
        日本: str = ...,
        a_b: str = ...,  # sent as "a b"
        _: str = ...,  # sent as ""
    ) -> Any:  # no output schema
        """Also shapes["2fa.enable"](...)."""
        ...

    @staticmethod
    async def all_of_ref(*, p: AllOfRefP = ...) -> Any:  # no output schema
        """Also shapes["all-of-ref"](...)."""
        ...

    @staticmethod
    async def anchors(*, a: Leaf = ..., b: Leaf = ...) -> Any:  # no output schema
        ...

    @staticmethod
    async def any_arguments(
        **extra: Any,  # any further arguments
    ) -> Any:  # no output schema
        """Also shapes["any-arguments"](...)."""
        ...

    @staticmethod
    async def any_of_object_or_array(*, q: AnyOfObjectOrArrayQOption1 | list[str] = ...) -> Any:  # no output schema
        """Also shapes["any-of-object-or-array"](...)."""
        ...

    @staticmethod
    async def bare_containers(
        *,
        l: list[Any] = ...,  # items of any type
        o: dict[str, Any] = ...,  # any keys
        n: None = ...,
        ll: list[list[Any]] = ...,  # items: items of any type
    ) -> Any:  # no output schema
        """Also shapes["bare-containers"](...)."""
        ...

    @staticmethod
    async def closed_empty_object(*, e: ClosedEmptyObjectE = ...) -> Any:  # no output schema
        """Also shapes["closed-empty-object"](...)."""
        ...

    @staticmethod
    async def conditions(*, mode: Literal["x", "y"], y: int = ...) -> Any:  # no output schema
        """if mode is "x": y given
        y needs mode
        keys: match ^[a-z]+$
        not: z given
        """
        ...

    @staticmethod
    async def consts(
        *,
        version: Literal["v2"] = ...,
        gone: None = ...,
        one: float = ...,  # 1.5
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def depth(*, a: DepthA = ...) -> Any:  # no output schema
        ...

    @staticmethod
    async def enum_with_null(*, a: Literal["a", "b"] = ..., b: Literal["a", "b"] | None = ...) -> Any:  # no output schema
        """Also shapes["enum-with-null"](...)."""
        ...

    @staticmethod
    async def exact_tuple(
        *,
        t: list[str | int] = ...,  # at least 2 items; exactly [str, int]
        u: list[str | int] = ...,  # [str], then int
        v: list[str | int] = ...,  # up to [str, int]
    ) -> Any:  # no output schema
        """Also shapes["exact-tuple"](...)."""
        ...

    @staticmethod
    async def formats(
        *,
        a: str = ...,  # ISO 8601 date and time
        b: str = ...,  # UUID
        c: str = ...,  # email address
        d: str = ...,  # URI
        e: str = ...,  # binary data
        f: str = ...,  # base64; image/png
        g: str = ...,  # format x-colour
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def fourteen_variants(
        *,
        items: list[FourteenVariantsItemsK1 | FourteenVariantsItemsK2 | FourteenVariantsItemsK3 | FourteenVariantsItemsK4 | FourteenVariantsItemsK5 | FourteenVariantsItemsK6 | FourteenVariantsItemsK7 | FourteenVariantsItemsK8 | FourteenVariantsItemsK9 | FourteenVariantsItemsK10 | FourteenVariantsItemsK11 | FourteenVariantsItemsK12 | FourteenVariantsItemsK13 | FourteenVariantsItemsK14] = ...,
    ) -> Any:  # no output schema
        """Also shapes["fourteen-variants"](...)."""
        ...

    @staticmethod
    async def from_and_from_(
        *,
        from_2: str = ...,  # sent as "from"
        from_: int = ...,
    ) -> Any:  # no output schema
        """Also shapes["from-and-from_"](...)."""
        ...

    @staticmethod
    async def ghost(
        *,
        ghost: Any,  # any JSON value
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def import_(*, q: str) -> Any:  # no output schema
        """Also shapes["import"](...)."""
        ...

    @staticmethod
    async def interpreter_names(
        *,
        method: str = ...,
        name: str = ...,
        self: str = ...,
        args: str = ...,
        kwargs: str = ...,
        extra: str = ...,
        **extra_: Any,  # any further arguments
    ) -> Any:  # no output schema
        """Also shapes["interpreter-names"](...)."""
        ...

    @staticmethod
    async def json_value(*, v: JsonValue = ...) -> Any:  # no output schema
        """Also shapes["json-value"](...)."""
        ...

    @staticmethod
    async def many_values(
        *,
        c: str = ...,  # one of 33: "AED", "AFN", "ALL", "AMD", "ANG", …: await tools_describe("shapes.many_values")
    ) -> Any:  # no output schema
        """Also shapes["many-values"](...)."""
        ...

    @staticmethod
    async def map_of_integers(*, m: dict[str, int] = ..., n: MapOfIntegersN = ...) -> Any:  # no output schema
        """Also shapes["map-of-integers"](...)."""
        ...

    @staticmethod
    async def no_arguments() -> Any:  # no output schema
        """Also shapes["no-arguments"](...)."""
        ...

    @staticmethod
    async def no_type(*, o: NoTypeO = ..., l: list[str] = ..., e: Literal["x", 1, True] = ...) -> Any:  # no output schema
        """Also shapes["no-type"](...)."""
        ...

    @staticmethod
    async def nothing_but_itself(*, x: X = ...) -> Any:  # no output schema
        """Also shapes["nothing-but-itself"](...)."""
        ...

    @staticmethod
    async def nullable_default_null(*, tag: str | None = None) -> Any:  # no output schema
        """Also shapes["nullable-default-null"](...)."""
        ...

    @staticmethod
    async def nullable_items(*, l: list[str | None] = ...) -> Any:  # no output schema
        """Also shapes["nullable-items"](...)."""
        ...

    @staticmethod
    async def nullable_object(*, o: NullableObjectO | None = ..., r: R = ...) -> Any:  # no output schema
        """Also shapes["nullable-object"](...)."""
        ...

    @staticmethod
    async def nullable_openapi(
        *,
        a: A | None,
        b: A | None = ...,
        c: str | int | None = ...,
        d: str | int | None = ...,
        e: str = ...,
        f: Any = ...,  # any JSON value
        g: Literal["x"] | None = ...,
    ) -> Any:  # no output schema
        """Also shapes["nullable-openapi"](...)."""
        ...

    @staticmethod
    async def numbers(
        *,
        x: float = ...,
        n: int = ...,  # <= 9007199254740993
        both: float = ...,
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def old_bounds(
        *,
        n: float = ...,  # > 0
    ) -> Any:  # no output schema
        """Also shapes["old-bounds"](...)."""
        ...

    @staticmethod
    async def old_bounds_without_schema(
        *,
        n: float = ...,  # < 10
    ) -> Any:  # no output schema
        """Also shapes["old-bounds-without-schema"](...)."""
        ...

    @staticmethod
    async def old_tuple(
        *,
        t: list[str | int | bool] = ...,  # [str, int], then bool
    ) -> Any:  # no output schema
        """Also shapes["old-tuple"](...)."""
        ...

    @staticmethod
    async def old_tuple_without_schema(
        *,
        t: list[str | int] = ...,  # starts with [str, int]
    ) -> Any:  # no output schema
        """Also shapes["old-tuple-without-schema"](...)."""
        ...

    @staticmethod
    async def only_conditions_name_it(
        *,
        mode: Literal["x", "y"],
        key: Any = ...,  # any JSON value
    ) -> Any:  # no output schema
        """if mode is "x": key given
        Also shapes["only-conditions-name-it"](...).
        """
        ...

    @staticmethod
    async def open_with_properties(
        *,
        a: int,
        **extra: Any,  # any further arguments
    ) -> Any:  # no output schema
        """Also shapes["open-with-properties"](...)."""
        ...

    @staticmethod
    async def optional_integer(*, limit: int = ...) -> Any:  # no output schema
        """Also shapes["optional-integer"](...)."""
        ...

    @staticmethod
    async def pattern_keys(
        *,
        h: dict[str, str] = ...,  # keys match ^x-
    ) -> Any:  # no output schema
        """Also shapes["pattern-keys"](...)."""
        ...

    @staticmethod
    async def print_(*, q: str) -> Any:  # no output schema
        """Also shapes["print"](...)."""
        ...

    @staticmethod
    async def recursive_ref(*, kids: list[RecursiveRef] = ..., n: int = ...) -> Any:  # no output schema
        """Also shapes["recursive-ref"](...)."""
        ...

    @staticmethod
    async def ref_to_root(*, child: RefToRoot = ..., n: int = ...) -> Any:  # no output schema
        """Also shapes["ref-to-root"](...)."""
        ...

    @staticmethod
    async def ref_with_siblings(
        *,
        owner: Id = ...,  # Who; default "me"
    ) -> Any:  # no output schema
        """Also shapes["ref-with-siblings"](...)."""
        ...

    @staticmethod
    async def ref_with_siblings_draft_07(*, owner: Id2 = ...) -> Any:  # no output schema
        """Also shapes["ref-with-siblings-draft-07"](...)."""
        ...

    @staticmethod
    async def refs_that_are_no_names(
        *,
        a: MyTypeV2 = ...,
        b: MyTypeV22 = ...,
        c: T2nd = ...,
        d: None2 = ...,
        e: List = ...,
        f: Type = ...,
    ) -> Any:  # no output schema
        """Also shapes["refs-that-are-no-names"](...)."""
        ...

    @staticmethod
    async def repo_list_issues(*, q: str) -> Any:  # no output schema
        """Also shapes["repo/list.issues"](...)."""
        ...

    @staticmethod
    async def required_nullable(*, note: str | None) -> Any:  # no output schema
        """Also shapes["required-nullable"](...)."""
        ...

    @staticmethod
    async def root_of_a_map(**extra: int) -> Any:  # no output schema
        """Also shapes["root-of-a-map"](...)."""
        ...

    @staticmethod
    async def root_one_of_keeps_properties(
        *,
        id: int,
        a: Any = ...,  # any JSON value
        b: Any = ...,  # any JSON value
    ) -> Any:  # no output schema
        """give exactly one of: a | b
        Also shapes["root-one-of-keeps-properties"](...).
        """
        ...

    @staticmethod
    async def root_one_of_objects(*, city: str = ..., lat: float = ..., lon: float = ...) -> Any:  # no output schema
        """give exactly one of: city | lat and lon
        Also shapes["root-one-of-objects"](...).
        """
        ...

    @staticmethod
    async def root_one_of_required(*, url: str = ..., path: str = ...) -> Any:  # no output schema
        """give exactly one of: url | path
        Also shapes["root-one-of-required"](...).
        """
        ...

    @staticmethod
    async def soft_and_hard_words(
        *,
        match: str = ...,
        case: str = ...,
        _: str = ...,
        type: str = ...,
        const: str = ...,
        None_: str = ...,  # sent as "None"
        True_: str = ...,  # sent as "True"
        async_: str = ...,  # sent as "async"
        await_: str = ...,  # sent as "await"
        print: str = ...,
        list: str = ...,
        str: str = ...,
    ) -> Any:  # no output schema
        """Also shapes["soft-and-hard-words"](...)."""
        ...

    @staticmethod
    async def tree(*, root: Node) -> Any:  # no output schema
        ...

    @staticmethod
    async def true_false_empty(
        *,
        x: Any = ...,  # any JSON value
        w: Any = ...,  # any JSON value
    ) -> Any:  # no output schema
        """Also shapes["true-false-empty"](...)."""
        ...

    @staticmethod
    async def two_in_a_circle(*, a: A2 = ...) -> Any:  # no output schema
        """Also shapes["two-in-a-circle"](...)."""
        ...

    @staticmethod
    async def unresolved(
        *,
        a: Any = ...,  # unresolved ref "https://example.com/x.json"
        b: Any = ...,  # unresolved ref "other.json#/y"
        c: Any = ...,  # unresolved ref "#/$defs/Nope"
        d: int = ...,  # unresolved ref "#/nope"
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def variants(
        *,
        items: list[VariantsItemsCard | VariantsItemsBank | VariantsItemsCashOnDelivery] = ...,
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def words_of_the_language(
        *,
        from_: str,  # sent as "from"
        class_: int = ...,  # sent as "class"
        content_type: str = ...,  # sent as "content-type"
        headers: WordsOfTheLanguageHeaders = ...,
    ) -> Any:  # no output schema
        """Also shapes["words-of-the-language"](...)."""
        ...

