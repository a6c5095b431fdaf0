"""What schemathesis has to know about this API: how exports are sent, and that nobody comes to answer."""

import json

import schemathesis


@schemathesis.serializer("application/jsonl")
def lines(context, value):
    """An export is bytes; whatever else was made up goes out as one line."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace")
    return value if isinstance(value, bytes) else json.dumps(value).encode()


@schemathesis.hook
def map_query(context, query):
    """Nobody answers: a request that waits would wait in vain."""
    if query:
        for name in ("wait", "seconds"):
            if isinstance(query.get(name), int):
                query[name] = min(query[name], 0)
    return query
