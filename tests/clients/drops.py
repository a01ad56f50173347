"""Where a client drops everything: the line of its own code after which no host can see what the server said."""

from dataclasses import dataclass
from pathlib import Path

from harness import HERE, Cell

NODE = "node_modules/@modelcontextprotocol"
INSPECTOR = f"{NODE}/inspector/clients/cli/build/index.js"


@dataclass(frozen=True)
class Drop:
    """One such line.

    :param client: whose code it is.
    :param shown: what the host sees in place of the sentence.
    :param file: the file, as a pattern below this folder.
    :param function: the line that begins the function.
    :param line: the line itself, the first of its kind in there.
    :param why: what happens there.
    """

    client: str
    shown: str
    file: str
    function: str
    line: str
    why: str

    @property
    def place(self) -> str:
        """The file, the line's number in the installed release, and the function."""
        (path,) = HERE.glob(self.file)
        lines = path.read_text().splitlines()
        start = next(number for number, line in enumerate(lines) if self.function in line)
        number = next(number for number, line in enumerate(lines) if number >= start and self.line in line)
        return f"`{_short(path)}:{number + 1}`, `{self.function.strip(' {').removeprefix('async ')}`"


def _short(path: Path) -> str:
    return path.as_posix().split("site-packages/")[-1].split("node_modules/")[-1]


DROPS = (
    Drop(
        "Python SDK 1",
        "for url",
        ".venv-mcp1/lib/python3*/site-packages/mcp/client/streamable_http.py",
        "async def _handle_post_request",
        "response.raise_for_status()",
        "raises before the body is read; only the headers stay, and these carry no sentence",
    ),
    Drop(
        "TypeScript SDK v1",
        "Server returned 401 after successful authentication",
        f"{NODE}/sdk/dist/esm/client/streamableHttp.js",
        "async send(message, options) {",
        "'Server returned 401 after successful authentication'",
        "has read the body, and throws a fixed text once a renewed token is refused too",
    ),
    Drop(
        "TypeScript SDK v1",
        "Server returned 403 after trying upscoping",
        f"{NODE}/sdk/dist/esm/client/auth.js",
        "async function authInternal",
        "const newTokens = await refreshAuthorization(",
        "refreshes where a wider scope is asked for, which grants no more; without a refresh token it steps up",
    ),
    Drop(
        "TypeScript SDK v2",
        "Server returned 401 after re-authentication",
        f"{NODE}/client/dist/index.mjs",
        "async _send(message, options",
        "Server returned 401 after re-authentication",
        "throws a fixed text once a renewed token is refused too",
    ),
    Drop(
        "TypeScript SDK v2",
        "Unauthorized",
        f"{NODE}/client/dist/index.mjs",
        "async _send(message, options",
        "throw markAuthSeamEscape(new UnauthorizedError())",
        "drops the body of a 401; only a host's own `authProvider.onUnauthorized` is handed the response",
    ),
    Drop(
        "Inspector CLI",
        "Interactive OAuth requires a TTY",
        INSPECTOR,
        "function assertInteractiveOAuthAllowed(options) {",
        "Interactive OAuth requires a TTY",
        "refuses to sign in without a terminal, in its own words; `--stored-auth-only` shows the sentence",
    ),
    Drop(
        "Inspector CLI",
        "Insufficient scope: required",
        INSPECTOR,
        "function classifyUnredacted(error, context) {",
        "error.message",
        "prints the error's message, which names the scopes, and not its `errorDescription`",
    ),
    Drop(
        "Inspector CLI",
        "auth() returned AUTHORIZED without authorization code",
        INSPECTOR,
        "async authenticate() {",
        "returned AUTHORIZED without authorization code",
        "expects a sign-in and gets a refreshed token; with `--client-id` it steps up",
    ),
    Drop(
        "Inspector CLI",
        "Interactive auth recovery required",
        INSPECTOR,
        "var AuthRecoveryRequiredError = class",
        "Interactive auth recovery required",
        "gives up, in its own words, once the scopes are refused again",
    ),
)


def drop_of(cell: Cell) -> Drop:
    """Why nothing could be seen in this cell. Raises ``LookupError`` where nothing explains it."""
    for drop in DROPS:
        if drop.client == cell.row.client and drop.shown in cell.message:
            return drop
    raise LookupError(f"{cell.row.name}: nothing explains {cell.message!r}")
