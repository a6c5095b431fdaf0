"""Two threads resume the same interrupted LangGraph thread with different answers, at the same moment.

Run by `cargo xtask bench race`, in an environment with what requirements.txt lists. The graph is the one of the manual
for a person in the loop: one node asks with `interrupt`, the next one acts on the answer. Prints one line of JSON for
each checkpointer.

Usage: langgraph_race.py RACES FOLDER
"""

import json
import os
import sqlite3
import sys
import threading
import time
from importlib.metadata import version
from typing import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt


class State(TypedDict):
    """What the graph passes on."""

    answer: str


class Side:
    """A graph with its checkpointer, and everything it did."""

    def __init__(self, saver):
        self.acted = []
        builder = StateGraph(State)
        builder.add_node("ask", lambda state: {"answer": interrupt("Where to?")})
        builder.add_node("act", self.act)
        builder.add_edge(START, "ask")
        builder.add_edge("ask", "act")
        builder.add_edge("act", END)
        self.graph = builder.compile(checkpointer=saver)

    def act(self, state):
        """The side effect after the interrupt."""
        self.acted.append(state["answer"])
        return {}

    def race(self, number):
        """Returns what was acted on, and what each of both callers got: its own answer, another one or an error."""
        config = {"configurable": {"thread_id": f"race-{number}"}}
        paused = self.graph.invoke({"answer": ""}, config)
        assert "__interrupt__" in paused, paused
        self.acted.clear()
        barrier, got = threading.Barrier(2), {}

        def resume(answer):
            barrier.wait()
            try:
                result = self.graph.invoke(Command(resume=answer), config)
                got[answer] = "own" if result.get("answer") == answer else "other"
            except Exception as error:  # whatever it says, it is a no
                got[answer] = f"error: {type(error).__name__}: {error}"

        threads = [threading.Thread(target=resume, args=(answer,)) for answer in ("dist", "public")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return list(self.acted), sorted(got.values())


def measure(name, saver, races):
    """Runs the races and prints what came of them."""
    side = Side(saver)
    both = once = never = told = both_think = 0
    errors = set()
    begin = time.perf_counter()
    for number in range(races):
        acted, got = side.race(number)
        both += len(acted) >= 2
        once += len(acted) == 1
        never += not acted
        refused = [reply for reply in got if reply.startswith("error")]
        told += bool(refused)
        both_think += got == ["own", "own"]
        errors.update(refused)
    seconds = time.perf_counter() - begin
    line = {"name": f"LangGraph {version('langgraph')}, {name}", "races": races, "both": both, "once": once}
    line |= {"never": never, "told": told, "both_think": both_think}
    line |= {"seconds": seconds, "errors": sorted(errors)[:3]}
    print(json.dumps(line), flush=True)


def main():
    """Measures both checkpointers: the one of the manual's examples, and one that keeps a file."""
    races, folder = int(sys.argv[1]), sys.argv[2]
    measure("in memory", InMemorySaver(), races)
    # As `SqliteSaver.from_conn_string` opens it.
    connection = sqlite3.connect(os.path.join(folder, "checkpoints.db"), check_same_thread=False)
    measure("SQLite", SqliteSaver(connection), races)
    connection.close()


if __name__ == "__main__":
    main()
