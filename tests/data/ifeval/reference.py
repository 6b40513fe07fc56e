"""reference.py - what IFEval's own evaluator says (strict), for the checks that have its names. Run by hand; no test needs it.

    python3 -m venv V && V/bin/pip install nltk==3.9.2 langdetect==1.0.9 immutabledict packaging
    V/bin/pip install --no-deps lm-eval llama-index-core       # the evaluator; Punkt's model of English
    export IFEVAL=V/lib/python3.11/site-packages/lm_eval/tasks/ifeval
    export NLTK_DATA=V/lib/python3.11/site-packages/llama_index/core/_static/nltk_cache
    V/bin/python tests/data/ifeval/reference.py cases >tests/data/ifeval/cases.jsonl      # of the texts in texts.py
    V/bin/python tests/data/ifeval/reference.py agree INPUT.jsonl RESPONSES.jsonl..       # on answers of models

INPUT is IFEval's own input_data.jsonl, RESPONSES have "prompt" and "response" a line. `agree` runs build/draftmill on each answer under the
checks of its prompt and prints by type how many verdicts there are and how many are the same. Where a language is guessed, the evaluator draws lots:
it differs from itself, too.
"""
import collections
import importlib
import json
import os
import subprocess
import sys
import tempfile
import types

def evaluator():
    """The table of the evaluator's classes, without the rest of the package that it stands in."""
    for name in ("lm_eval", "lm_eval.tasks", "lm_eval.tasks.ifeval"):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [os.environ["IFEVAL"]]
    return importlib.import_module("lm_eval.tasks.ifeval.instructions_registry").INSTRUCTION_DICT


def verdict(classes, kind, arguments, text):
    instruction = classes[kind](kind)
    instruction.build_description(**arguments)
    return bool(text.strip()) and bool(instruction.check_following(text))


def print_cases(classes):
    from texts import CASES
    for kind, arguments, texts in CASES:
        for text in texts:
            case = {"check": {"name": "c", "type": kind, **arguments}, "text": text, "ok": verdict(classes, kind, arguments, text)}
            print(json.dumps(case, ensure_ascii=False))


def prompts_of(path):
    """Prompt -> its checks; arguments that are null are absent, and two letters are none."""
    prompts = {}
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        checks = [(kind, {name: value for name, value in arguments.items() if value is not None})
                  for kind, arguments in zip(row["instruction_id_list"], row["kwargs"])]
        prompts[row["prompt"]] = [(kind, arguments) for kind, arguments in checks
                                  if arguments.get("letter", "a").isalpha()]
    return prompts


def ours(folder, checks, text):
    specs = [{"name": f"c{i}", "type": kind, **arguments} for i, (kind, arguments) in enumerate(checks)]
    with open(f"{folder}/checks.json", "w", encoding="utf-8") as file:
        json.dump(specs, file)
    done = subprocess.run(["build/draftmill", "check", "text", "--json", "--checks", f"{folder}/checks.json"], input=text.encode(),
                          capture_output=True, check=False)
    return [result["ok"] for result in json.loads(done.stdout)["checks"]]


def print_agreement(classes, input_path, response_paths):
    prompts = prompts_of(input_path)
    n, same = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for path in response_paths:
            for row in map(json.loads, open(path, encoding="utf-8")):
                checks = prompts.get(row["prompt"])
                if not checks:
                    continue
                for (kind, arguments), ok in zip(checks, ours(folder, checks, row["response"])):
                    n[kind] += 1
                    same[kind] += ok == verdict(classes, kind, arguments, row["response"])
    for kind in sorted(n):
        print(f"{kind:50} {n[kind]:6} {100 * same[kind] / n[kind]:6.2f} %")


if sys.argv[1:2] == ["cases"]:
    print_cases(evaluator())
elif sys.argv[1:2] == ["agree"] and len(sys.argv) > 3:
    print_agreement(evaluator(), sys.argv[2], sys.argv[3:])
else:
    sys.exit(__doc__)
