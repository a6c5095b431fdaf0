"""From a question to its answer with LangGraph: a graph that asks with `interrupt`, resumed with the answer.

Run by `cargo xtask bench ask`, in an environment with what requirements.txt lists. Both steps go through the SQLite
checkpointer, as its documentation opens it, with full syncs as ours has them. Prints one line of JSON for one caller and
one for many.

Usage: langgraph_ask.py FOLDER
"""

import json
import os
import sqlite3
import sys
import threading
import time
from importlib.metadata import version
from typing import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

SECONDS = 4.0


class State(TypedDict):
    """What the graph passes on."""

    answer: str


def graph(saver):
    """Returns the graph of the manual for a person in the loop."""
    builder = StateGraph(State)
    builder.add_node("ask", lambda state: {"answer": interrupt("Where shall the build go?")})
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    return builder.compile(checkpointer=saver)


def measure(folder, threads):
    """Has so many callers ask and answer for a while, and prints how often they did in a second."""
    path = os.path.join(folder, f"checkpoints-{threads}.db")
    connection = sqlite3.connect(path, check_same_thread=False)
    saver = SqliteSaver(connection)
    saver.setup()
    connection.execute("PRAGMA synchronous = FULL")
    app, counts = graph(saver), [0] * threads
    spent, begin = time.process_time(), time.perf_counter()

    def work(number):
        while time.perf_counter() - begin < SECONDS:
            config = {"configurable": {"thread_id": f"{number}-{counts[number]}"}}
            paused = app.invoke({"answer": ""}, config)
            assert "__interrupt__" in paused, paused
            done = app.invoke(Command(resume="dist"), config)
            assert done["answer"] == "dist", done
            counts[number] += 1

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    wall = time.perf_counter() - begin
    side = {"name": f"LangGraph {version('langgraph')}, SQLite", "threads": threads, "rate": sum(counts) / wall}
    side["busy"] = (time.process_time() - spent) / wall
    connection.close()
    print(json.dumps(side), flush=True)


def main():
    """Measures one caller and as many as ours has."""
    for threads in (1, 64):
        measure(sys.argv[1], threads)


if __name__ == "__main__":
    main()
