"""Chat templates as the transformers library renders them, for a comparison.

    venv/bin/pip install jinja2==3.1.6 transformers==5.8.0
    venv/bin/python scripts/peers/chat_templates.py FOLDER > renderings.jsonl
    node scripts/peers/chat-templates.mjs renderings.jsonl
    venv/bin/python scripts/peers/chat_templates.py --snippets FILE... > FILE.golden.json

FOLDER has templates (*.jinja), of which each is rendered with each of the conversations below. One JSON object a line: the template's
name, the conversation's name, what was given, and the text, or the error with which it was refused. With --snippets: files of
snippets, one a line, each rendered alone, as a JSON object of snippets and texts, null for those that are refused.
"""

import copy
import json
import sys
from pathlib import Path

from transformers.utils.chat_template_utils import _compile_jinja_template

SPECIALS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a place, \"now\" <or> 'later' & so on; in °C",
        "parameters": {
            "type": "object",
            "properties": {
                "place": {"type": "string", "description": "A town.\nOr a village.", "enum": ["Zürich", "東京"]},
                "days": {"type": "integer", "default": 3, "minimum": 0.5},
                "exact": {"type": ["boolean", "null"], "default": None, "nullable": True},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["place"],
            "additionalProperties": False,
        },
        "strict": True,
    },
}
OTHER_TOOL = {"type": "function", "function": {"name": "now", "description": "", "parameters": {"type": "object", "properties": {}}}}


def turn(role, content, **more):
    return {"role": role, "content": content, **more}


def call(arguments, id="abcdefghi", name="get_weather"):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


SYSTEM = turn("system", "You are terse.\n  Really.\n")
ASK = turn("user", "What is 2 + 2?")
FOUR = turn("assistant", "Four.")
CODE = "    def f(x):\n        return x\n"
ARGUMENTS = {"place": "Zürich", "days": 2, "exact": True, "factor": 0.5, "tags": ["a", "b"], "more": {"x": None, "y": False}}
CALLED = turn("assistant", "", tool_calls=[call(ARGUMENTS)])
CALLED_TWICE = turn("assistant", None, tool_calls=[call({"place": "A"}), call({}, "ihgfedcba", "now")])
RESULT = turn("tool", '{"temperature": 21.5, "ok": true}', tool_call_id="abcdefghi", name="get_weather")
OTHER_RESULT = turn("tool", "noon", tool_call_id="ihgfedcba", name="now")
PARTS = [{"type": "text", "text": "Look: "}, {"type": "text", "text": "two parts."}]

# Name: messages, and what else is given.
CONVERSATIONS = {
    "one turn": ([ASK], {}),
    "one turn, whole": ([ASK, FOUR], {"add_generation_prompt": False}),
    "no generation prompt": ([ASK], {"add_generation_prompt": False}),
    "system": ([SYSTEM, ASK], {}),
    "empty system": ([turn("system", ""), ASK], {}),
    "several turns": ([SYSTEM, ASK, FOUR, turn("user", "And 3 + 3?")], {}),
    "several turns, whole": ([ASK, FOUR, turn("user", "And 3 + 3?"), turn("assistant", "Six.")], {"add_generation_prompt": False}),
    "tools": ([ASK], {"tools": [TOOL]}),
    "system and tools": ([SYSTEM, ASK], {"tools": [TOOL, OTHER_TOOL]}),
    "no tools": ([ASK], {"tools": []}),
    "call": ([ASK, CALLED, RESULT], {"tools": [TOOL]}),
    "call, answered": ([SYSTEM, ASK, CALLED, RESULT, FOUR, turn("user", "Thanks")], {"tools": [TOOL, OTHER_TOOL]}),
    "two calls": ([ASK, CALLED_TWICE, RESULT, OTHER_RESULT], {"tools": [TOOL, OTHER_TOOL]}),
    "arguments as text": ([ASK, turn("assistant", "", tool_calls=[call(json.dumps(ARGUMENTS))]), RESULT], {"tools": [TOOL]}),
    "call without tools": ([ASK, CALLED, RESULT], {}),
    "null content": ([ASK, turn("assistant", None), turn("user", "Well?")], {}),
    "null system": ([turn("system", None), ASK], {}),
    "null tool_calls": ([ASK, turn("assistant", "Four.", tool_calls=None, reasoning_content=None), turn("user", "Well?")], {}),
    "no calls": ([ASK, turn("assistant", "Four.", tool_calls=[]), turn("user", "Well?")], {}),
    "parts": ([turn("user", PARTS)], {}),
    "parts and system": ([turn("system", [PARTS[0]]), turn("user", PARTS), turn("assistant", [PARTS[1]]), ASK], {}),
    "image": ([turn("user", [{"type": "image"}, {"type": "text", "text": "What is this?"}])], {}),
    "thinking": ([ASK, turn("assistant", f"<think>\nplan\n</think>\n\n{CODE}"), turn("user", "Go on")], {}),
    "thinking, whole": ([ASK, turn("assistant", f"<think>\nplan\n</think>\n\n{CODE}")], {"add_generation_prompt": False}),
    "reasoning_content": ([ASK, turn("assistant", CODE, reasoning_content="\n  - first\n  - second\n"), turn("user", "Go on")], {}),
    "reasoning": ([ASK, turn("assistant", CODE, reasoning=" plan ", thinking=" plan ")], {"add_generation_prompt": False}),
    "reasoning and call": ([ASK, turn("assistant", "", reasoning_content="look up", tool_calls=[call(ARGUMENTS)]), RESULT], {"tools": [TOOL]}),
    "thinking off": ([ASK], {"enable_thinking": False, "thinking": False}),
    "thinking on": ([SYSTEM, ASK], {"enable_thinking": True, "thinking": True, "reasoning_effort": "high"}),
    "white space": ([turn("user", " \n\t  - nested\n    - more \x1c\u00a0\u2003\n"), turn("assistant", "\n\n  x\n"), turn("user", "\u3000y\ufeff")], {}),
    "CRLF": ([turn("system", "a\r\nb\r\n"), turn("user", "one\r\ntwo\rthree\r\n")], {}),
    "Unicode": ([turn("user", "🙂👩‍👩‍👧 e\u0301 ñ ß İ ǆ ﬁ \u202e\u0000\u007f\u0085\u2028 𝒳 \ud800".replace("\ud800", "")), turn("assistant", "ΣΑΣ ÀÉ"), turn("user", "日本")], {}),
    "markup": ([turn("user", "{{ x }} {% if %} {# c #} <|im_end|> </s> \\n \\ ' \" & <b>")], {}),
    "numbers": ([turn("user", "1"), turn("assistant", "true"), turn("user", "None")], {}),
    "empty": ([turn("user", ""), turn("assistant", ""), turn("user", "")], {}),
    "nobody": ([], {}),
    "unknown role": ([turn("narrator", "Once"), ASK], {}),
    "two users": ([ASK, turn("user", "And 3 + 3?")], {}),
    "assistant first": ([FOUR, ASK], {}),
    "system late": ([ASK, FOUR, SYSTEM, turn("user", "Well?")], {}),
    "developer": ([turn("developer", "Be kind."), ASK], {"tools": [TOOL]}),
    "ends with assistant": ([ASK, FOUR], {}),
    "documents": ([ASK], {"documents": [{"title": "T", "text": "Some text."}]}),
    "odd fields": ([turn("user", "x", name="ann", n=3, f=1e-7, g=123456.789, l=[1, "a'b", None, True], d={"k": "v\n"}), FOUR, ASK], {}),
    "content is a number": ([turn("user", 7), turn("assistant", True), turn("user", 0.1)], {}),
}


def render(source, messages, tools=None, documents=None, add_generation_prompt=True, **variables):
    """As `render_jinja_template` does. A template may change what it is given."""
    given = {**SPECIALS, **copy.deepcopy(variables), "messages": copy.deepcopy(messages), "tools": tools, "documents": documents}
    try:
        text = _compile_jinja_template(source).render(add_generation_prompt=add_generation_prompt, **given)
        # Text of half a surrogate pair is none.
        text.encode()
        return {"text": text}
    except RecursionError as error:
        return {"error": f"RecursionError: {error}"}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def snippets(files):
    for file in files:
        sources = [line for line in Path(file).read_bytes().decode().split("\n") if line]
        sources = [json.loads(line) if line.startswith('"') else line for line in sources]
        messages, more = CONVERSATIONS["odd fields"]
        golden = {source: render(source, messages, **more).get("text") for source in sources}
        print(json.dumps(golden, indent=1, ensure_ascii=True))


def main():
    if sys.argv[1] == "--snippets":
        return snippets(sys.argv[2:])
    for path in sorted(Path(sys.argv[1]).glob("*.jinja")):
        source = path.read_bytes().decode()
        for name, (messages, more) in CONVERSATIONS.items():
            given = {"add_generation_prompt": True, **more}
            row = {"template": path.name, "source": source, "conversation": name, "messages": messages, **given}
            print(json.dumps({**row, "specials": SPECIALS, **render(source, messages, **given)}))


if __name__ == "__main__":
    main()
