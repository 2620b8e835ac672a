"""Scenario files for `plan_cluster` and `plan_replicas`: YAML or JSON, one or many documents in a file.

A file that cannot be used is one line, `file: place: expected ...`; the commands print it and exit with 2.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

from scaling.scenarios.fields import BadScenario, shown

BAD_FILE_EXIT = 2

Scenario = TypeVar("Scenario")
_TOO_DEEP = "its lists and mappings are nested too deeply to be read"
_MERGE_TAG = "tag:yaml.org,2002:merge"


class BadFile(Exception):
    """One line that names the file, the place in it and what was expected there."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file; `number` counts from 1 where the file has several, else it is None."""

    file: str
    number: int | None
    content: object

    def error(self, message: str) -> BadFile:
        """The error line for something wrong in this document."""
        return _bad(self.file, f"document {self.number}: {message}" if self.number else message)


def load_scenarios(paths: Sequence[str], parse: Callable[[object], Scenario]) -> list[Scenario]:
    """Every document of every file in order, parsed; raises BadFile for the first one that is wrong."""
    scenarios = []
    for document in read_documents(paths):
        try:
            scenarios.append(parse(document.content))
        except BadScenario as error:
            raise document.error(str(error)) from None
    return scenarios


def read_documents(paths: Sequence[str], what: str = "a scenario") -> list[Document]:
    """The documents of the files in order, empty ones left out; raises BadFile. `what` a file holds, for people."""
    documents: list[Document] = []
    for path in paths:
        contents = _contents(path, _text(path))
        found = [
            Document(path, index if len(contents) > 1 else None, content)
            for index, content in enumerate(contents, start=1)
            if content is not None
        ]
        if not found:
            raise _bad(path, f"expected {what}, the file is empty")
        documents += found
    return documents


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise _bad(path, f"byte {error.start}: expected text in UTF-8") from None
    except OSError as error:
        raise _bad(path, f"expected a file that can be read: {error.strerror}") from None


def _contents(path: str, text: str) -> list[object]:
    if path.endswith(".json"):
        try:
            return [json.loads(text, object_pairs_hook=_object)]
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise _bad(path, f"{place}: expected JSON, {error.msg}") from None
        except _RepeatedKey as error:
            raise _bad(path, f"{error.key}: expected each key once in a mapping") from None
        except RecursionError:
            raise _bad(path, f"expected JSON, {_TOO_DEEP}") from None
    try:
        return list(yaml.load_all(text, Loader=_ScenarioLoader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise _bad(path, f"{place}expected YAML, {error.problem or error.context}") from None
    except RecursionError:
        raise _bad(path, f"expected YAML, {_TOO_DEEP}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise _bad(path, f"expected YAML, {error}") from None


class _RepeatedKey(ValueError):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; the last of two equal keys must not win silently."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _RepeatedKey(key)
        found[key] = value
    return found


class _ScenarioLoader(yaml.SafeLoader):
    """Plain data only, and no key twice in a mapping (YAML's own loader lets the last one win)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE_TAG:  # `<<: *base` may be overridden, that is its use
                continue
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, list | dict):
                raise _key_error(key_node, f"expected a plain key, got {shown(key)}")
            if key in seen:
                raise _key_error(key_node, f"expected each key once, {shown(key)} is there twice")
            seen.add(key)
        return super().construct_mapping(node, deep)


def _key_error(node: yaml.Node, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def _bad(path: str, message: str) -> BadFile:
    return BadFile(" ".join(f"{path}: {message}".split()))
