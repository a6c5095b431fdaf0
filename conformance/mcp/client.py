"""A client on the MCP SDK for Python, moved by lines of JSON: it adds nothing of its own to what the SDK does.

    python client.py CONFIG

CONFIG is a JSON document:
    server   {"command": [...], "env": {...}} for stdio, {"url": ..., "token": ...} for streamable HTTP
    tier     "modern": 2026-07-28 with elicitation; "elicitation": 2025-11-25 with elicitation; "plain": without;
             "auto": with elicitation, in the revision that the SDK and the server agree on
    name     how the client calls itself

In, a line each:
    {"id": 1, "do": METHOD, ...}                 METHOD: tools, call, once, resources, templates, read, prompts, prompt;
                                                 with "timeout" a call is given up after so many seconds
    {"answer": 1, "result": {"action": ...}}     what the user says to an elicitation
Out, a line each:
    {"ready": PROTOCOL VERSION}
    {"id": 1, "result": ...} or {"id": 1, "error": {"code": ..., "message": ...}}
    {"elicit": 1, "request": {...}}
    {"withdrawn": 1}                             the server no longer wants it
    {"progress": ...}
"""

import itertools
import json
import sys

import anyio
import anyio.to_thread
import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client


def say(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


class Lines:
    """What comes in: calls to make, and answers of the user."""

    def __init__(self):
        self.numbers = itertools.count(1)
        self.waiting = {}

    async def elicit(self, context, params):
        number = next(self.numbers)
        send, receive = anyio.create_memory_object_stream(1)
        self.waiting[number] = send
        say({"elicit": number, "request": plain(params)})
        try:
            return types.ElicitResult.model_validate(await receive.receive())
        except BaseException:
            say({"withdrawn": number})
            raise
        finally:
            del self.waiting[number]

    async def run(self, client):
        async with anyio.create_task_group() as group:
            while line := await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
                line = json.loads(line)
                if "answer" in line:
                    if waiting := self.waiting.get(line["answer"]):
                        await waiting.send(line["result"])
                else:
                    group.start_soon(self.do, client, line)
            group.cancel_scope.cancel()

    async def do(self, client, line):
        try:
            say({"id": line["id"], "result": plain(await METHODS[line["do"]](client, line))})
        except MCPError as error:
            say({"id": line["id"], "error": {"code": error.error.code, "message": error.error.message}})
        except Exception as error:  # What the SDK refuses by itself.
            say({"id": line["id"], "error": {"code": None, "message": repr(error)}})


async def progress(done, total, message):
    say({"progress": {"progress": done, "total": total, "message": message}})


METHODS = {
    "tools": lambda client, line: client.list_tools(),
    "call": lambda client, line: client.call_tool(
        line["name"], line.get("arguments", {}), read_timeout_seconds=line.get("timeout"), progress_callback=progress
    ),
    "once": lambda client, line: client.session.call_tool(
        line["name"],
        line.get("arguments", {}),
        input_responses=responses(line.get("inputResponses")),
        request_state=line.get("requestState"),
        allow_input_required=True,
    ),
    "resources": lambda client, line: client.list_resources(),
    "templates": lambda client, line: client.list_resource_templates(),
    "read": lambda client, line: client.read_resource(line["uri"]),
    "prompts": lambda client, line: client.list_prompts(),
    "prompt": lambda client, line: client.get_prompt(line["name"], line.get("arguments", {})),
}


def responses(given):
    return given and {key: types.ElicitResult.model_validate(value) for key, value in given.items()}


def transport(server):
    if "command" in server:
        command, *arguments = server["command"]
        return stdio_client(StdioServerParameters(command=command, args=arguments, env=server.get("env")))
    headers = {"Authorization": f"Bearer {server['token']}"}
    return streamable_http_client(server["url"], http_client=httpx2.AsyncClient(headers=headers, timeout=120))


async def main(config):
    lines = Lines()
    client = Client(
        transport(config["server"]),
        mode={"modern": "2026-07-28", "auto": "auto"}.get(config["tier"], "legacy"),
        client_info=types.Implementation(name=config["name"], version="1"),
        elicitation_callback=None if config["tier"] == "plain" else lines.elicit,
    )
    async with client:
        say({"ready": client.session.protocol_version})
        await lines.run(client)


anyio.run(main, json.loads(sys.argv[1]))
