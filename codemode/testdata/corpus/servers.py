# mypy: allow-empty-bodies
# Every function is awaited: x = await servers.brave_web_search(…)
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

class ParentRequest(TypedDict):
    page_id: str  # UUID

class APIPostPageProperties(TypedDict):
    title: NotRequired[TitleRequest]
    type: NotRequired[str]

class TitleRequest(TypedDict):
    title: list[RichTextRequest]  # at most 100 items

class RichTextRequest(TypedDict):
    text: RichTextRequestText
    type: NotRequired[Literal["text"]]

class RichTextRequestText(TypedDict):
    content: str  # at most 2000 characters
    link: NotRequired[RichTextRequestTextLink | None]

class RichTextRequestTextLink(TypedDict):
    url: str

class CreateEntitiesEntities(TypedDict):
    name: str
    entityType: str
    observations: list[str]

class EditFileEdits(TypedDict):
    oldText: str  # Text to search for - must match exactly
    newText: str

class ExecuteSqlResult(TypedDict):
    rows: NotRequired[list[dict[str, Any]]]  # items: any keys
    rowcount: NotRequired[int]

class PushFilesFiles(TypedDict):
    path: str
    content: str

class Task(TypedDict):
    name: str
    priority: NotRequired[Priority]  # How urgent; default "low"
    due: NotRequired[str | None]  # ISO 8601 date

Priority: TypeAlias = 'Literal["low", "high"]'

class ReadTextFileResult(TypedDict):
    content: str

class SearchIssuesResult(TypedDict):
    total_count: int
    items: list[SearchIssuesResultItems]

class SearchIssuesResultItems(TypedDict):
    id: int
    title: str
    labels: NotRequired[list[str]]

class SendEmailAttachments(TypedDict):
    filename: str
    data: str  # base64

class servers:
    @staticmethod
    async def API_post_page(
        *,
        parent: ParentRequest,
        properties: APIPostPageProperties,
        icon: str = ...,  # format json
    ) -> Any:  # no output schema
        """Also servers["API-post-page"](...)."""
        ...

    @staticmethod
    async def brave_web_search(
        *,
        query: str,  # Search query (max 400 chars, 50 words)
        count: float = ...,  # Number of results (1-20, default 10); default 10
        offset: float = ...,  # default 0
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def browser_click(
        *,
        element: str,
        ref: str,
        doubleClick: bool = ...,
        button: Literal["left", "right", "middle"] = ...,
        modifiers: list[Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]] = ...,
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def create_entities(*, entities: list[CreateEntitiesEntities]) -> Any:  # no output schema
        ...

    @staticmethod
    async def create_pull_request(
        *,
        owner: str,
        repo: str,
        title: str,
        body: str = ...,
        head: str,
        base: str,
        draft: bool = ...,
        maintainer_can_modify: bool = ...,
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def edit_file(
        *,
        path: str,
        edits: list[EditFileEdits],
        dryRun: bool = ...,  # default False
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def execute_sql(*, sql: str, params: list[str | float | bool | None] = ...) -> ExecuteSqlResult:
        ...

    @staticmethod
    async def fastmcp_wrapped(*, a: int, b: int) -> list[int]:
        ...

    @staticmethod
    async def fetch(
        *,
        url: str,  # URL to fetch; URI; at least 1 character
        max_length: int = ...,  # Maximum number of characters to return; > 0; < 1000000; default 5000
        raw: bool = ...,  # default False
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def git_log(
        *,
        repo_path: str,
        max_count: int = ...,  # default 10
        start_timestamp: str | None = None,
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def push_files(
        *,
        branch: str,
        files: list[PushFilesFiles],  # Array of files to push
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def pydantic_model(*, tasks: list[Task]) -> Any:  # no output schema
        ...

    @staticmethod
    async def read_text_file(
        *,
        path: str,
        tail: float = ...,  # If provided, returns only the last N lines
        head: float = ...,
    ) -> ReadTextFileResult:
        ...

    @staticmethod
    async def search_issues(
        *,
        query: str,  # Search query in the host's syntax
        sort: Literal["created", "updated", "comments"] = ...,  # Sort field
        order: Literal["asc", "desc"] = ...,
        page: float = ...,  # Page number; >= 1
        perPage: float = ...,  # 1..100
    ) -> SearchIssuesResult:
        """Search issues and pull requests."""
        ...

    @staticmethod
    async def send_email(
        *,
        to: str | list[str],  # email address; at least 1 item; items: email address
        subject: str,  # at most 998 characters
        attachments: list[SendEmailAttachments] = ...,  # at most 10 items
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def sequentialthinking(
        *,
        thought: str,  # Your current thinking step
        nextThoughtNeeded: bool,
        thoughtNumber: int,  # >= 1
        totalThoughts: int,  # >= 1
        branchId: str = ...,
    ) -> Any:  # no output schema
        """A tool for step by step thinking.

        When to use this tool:
        - Breaking down problems
        - Planning
        """
        ...

    @staticmethod
    async def slack_post_message(
        *,
        channel_id: str,  # The ID of the channel to post to
        text: str,
    ) -> Any:  # no output schema
        ...

    @staticmethod
    async def stripe_create_refund(
        *,
        payment_intent: str,  # matches ^pi_
        amount: int = ...,  # > 0
        reason: Literal["duplicate", "fraudulent", "requested_by_customer"] = ...,
        metadata: dict[str, str] = ...,
    ) -> Any:  # no output schema
        ...

