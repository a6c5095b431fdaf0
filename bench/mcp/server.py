"""A tool that needs input first, with the MCP SDK for Python as its manual has it, over streamable HTTP.

Run by `cargo xtask bench mcp`, in an environment with what conformance/mcp/requirements.txt lists. It keeps nothing: the
state goes with the client, sealed, as the SDK does by default. Plain JSON comes back and no line is logged for a call, so
that nothing slows it down. Prints its port, and ends when its stdin does.

Usage: server.py
"""

import os
import socket
import sys
import threading
from importlib.metadata import version
from typing import Annotated

import anyio
import uvicorn
from mcp.server.mcpserver import Elicit, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("asker", log_level="ERROR")


class Answer(BaseModel):
    """What the form asks for."""

    answer: str


async def asked(question: str) -> Elicit[Answer]:
    """Asks the client's user."""
    return Elicit(question, Answer)


@server.tool()
async def ask_human(question: str, given: Annotated[Answer, Resolve(asked)]) -> str:
    """Asks a person and returns the answer."""
    return given.answer


def end_with_input():
    """Ends when whoever started this program has gone."""
    sys.stdin.read()
    os._exit(0)


async def main():
    """Serves on a free port."""
    # Named as TCP, otherwise asyncio would not turn off the delay of small packets.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    app = server.streamable_http_app(json_response=True, stateless_http=True)
    print(f"{listener.getsockname()[1]} {version('mcp')}", flush=True)
    config = uvicorn.Config(app, log_level="error", access_log=False)
    await uvicorn.Server(config).serve(sockets=[listener])


threading.Thread(target=end_with_input, daemon=True).start()
anyio.run(main)
