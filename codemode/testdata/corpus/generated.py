# mypy: allow-empty-bodies
# Every function is awaited: x = await generated.thousands_of_values(…)
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

class HostileDescriptionsP0(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP1(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP2(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP3(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP4(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP5(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP6(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP7(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP8(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP9(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP10(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP11(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP12(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP13(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP14(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP15(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP16(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP17(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP18(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP19(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP20(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP21(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP22(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP23(TypedDict):
    k: NotRequired[int]

class HostileDescriptionsP24(TypedDict):
    k: NotRequired[int]

class Definition0(TypedDict):
    next: NotRequired[Definition1]
    value: NotRequired[str]

class Definition1(TypedDict):
    next: NotRequired[Any]  # a Definition8: await tools_describe("generated.large")
    value: NotRequired[str]

class Definition2(TypedDict):
    next: NotRequired[Any]  # a Definition15: await tools_describe("generated.large")
    value: NotRequired[str]

class Definition3(TypedDict):
    next: NotRequired[Any]  # a Definition22: await tools_describe("generated.large")
    value: NotRequired[str]

class Definition4(TypedDict):
    next: NotRequired[Any]  # a Definition29: await tools_describe("generated.large")
    value: NotRequired[str]

class Definition5(TypedDict):
    next: NotRequired[Any]  # a Definition36: await tools_describe("generated.large")
    value: NotRequired[str]

class NestedObjectsLevel1(TypedDict):
    level2: NotRequired[NestedObjectsLevel1Level2]

class NestedObjectsLevel1Level2(TypedDict):
    level3: NotRequired[NestedObjectsLevel1Level2Level3]

class NestedObjectsLevel1Level2Level3(TypedDict):
    level4: NotRequired[NestedObjectsLevel1Level2Level3Level4]

class NestedObjectsLevel1Level2Level3Level4(TypedDict):
    level5: NotRequired[NestedObjectsLevel1Level2Level3Level4Level5]

class NestedObjectsLevel1Level2Level3Level4Level5(TypedDict):
    level6: NotRequired[NestedObjectsLevel1Level2Level3Level4Level5Level6]

class NestedObjectsLevel1Level2Level3Level4Level5Level6(TypedDict):
    level7: NotRequired[NestedObjectsLevel1Level2Level3Level4Level5Level6Level7]

class NestedObjectsLevel1Level2Level3Level4Level5Level6Level7(TypedDict):
    level8: NotRequired[dict[str, Any]]  # nested deeper: await tools_describe("generated.nested_objects")

class generated:
    @staticmethod
    async def hostile_descriptions(
        *,
        p0: HostileDescriptionsP0 = ...,
        p1: HostileDescriptionsP1 = ...,
        p2: HostileDescriptionsP2 = ...,
        p3: HostileDescriptionsP3 = ...,
        p4: HostileDescriptionsP4 = ...,
        p5: HostileDescriptionsP5 = ...,
        p6: HostileDescriptionsP6 = ...,
        p7: HostileDescriptionsP7 = ...,
        p8: HostileDescriptionsP8 = ...,
        p9: HostileDescriptionsP9 = ...,
        p10: HostileDescriptionsP10 = ...,
        p11: HostileDescriptionsP11 = ...,
        p12: HostileDescriptionsP12 = ...,
        p13: HostileDescriptionsP13 = ...,
        p14: HostileDescriptionsP14 = ...,
        p15: HostileDescriptionsP15 = ...,
        p16: HostileDescriptionsP16 = ...,
        p17: HostileDescriptionsP17 = ...,
        p18: HostileDescriptionsP18 = ...,
        p19: HostileDescriptionsP19 = ...,
        p20: HostileDescriptionsP20 = ...,
        p21: HostileDescriptionsP21 = ...,
        p22: HostileDescriptionsP22 = ...,
        p23: HostileDescriptionsP23 = ...,
        p24: HostileDescriptionsP24 = ...,
    ) -> Any:  # no output schema
        """\"\"\"
        \"\"\"); import os; os.system("x") #
        '''
        import evil
        '''
        ends with a quote"
        ends with a backslash\\
        \\N{bad} \\x0 \\u12
        a
        import evil
        b
        a
        import evil
        a
        import evil

        import evil

        import evil

        [31m
         reversed 
        # comment
        import evil
        中文 é 💥
        long long long long long long long long long long long long long long long long long long long long long long long long long long long…
        The descriptions of arguments and keys are left out: await tools_describe("generated.hostile_descriptions").
        Also generated["hostile-descriptions"](...).
        """
        ...

    @staticmethod
    async def large(
        *,
        property0: Definition0 = ...,
        property1: Definition1 = ...,
        property2: Definition2 = ...,
        property3: Definition3 = ...,
        property4: Definition4 = ...,
        property5: Definition5 = ...,
        property6: Any = ...,  # a Definition6: await tools_describe("generated.large")
        property7: Any = ...,  # a Definition7: await tools_describe("generated.large")
        property8: Any = ...,  # a Definition8: await tools_describe("generated.large")
        property9: Any = ...,  # a Definition9: await tools_describe("generated.large")
        property10: Any = ...,  # a Definition10: await tools_describe("generated.large")
        property11: Any = ...,  # a Definition11: await tools_describe("generated.large")
        property12: Any = ...,  # a Definition12: await tools_describe("generated.large")
        property13: Any = ...,  # a Definition13: await tools_describe("generated.large")
        property14: Any = ...,  # a Definition14: await tools_describe("generated.large")
        property15: Any = ...,  # a Definition15: await tools_describe("generated.large")
        **extra: Any,  # 484 more arguments: await tools_describe("generated.large")
    ) -> Any:  # no output schema
        """The descriptions of arguments and keys are left out: await tools_describe("generated.large")."""
        ...

    @staticmethod
    async def nested_objects(*, level1: NestedObjectsLevel1 = ...) -> Any:  # no output schema
        """Also generated["nested-objects"](...)."""
        ...

    @staticmethod
    async def thousands_of_values(
        *,
        city: str,  # one of 5000: "C0000", "C0001", "C0002", "C0003", "C0004", …: await tools_describe("generated.thousands_of_values")
    ) -> Any:  # no output schema
        """Also generated["thousands-of-values"](...)."""
        ...

