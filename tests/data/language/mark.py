"""mark.py - writes told.tsv anew: before each text the code that langdetect tells with all of 40 seeds, "-" if it finds no letters.
A text that the seeds do not agree about is left out. Run by hand; no test needs it.

    python3 -m venv V && V/bin/pip install langdetect==1.0.9 && V/bin/python tests/data/language/mark.py
"""
import langdetect

PATH = "tests/data/language/told.tsv"


def told(text, seed):
    langdetect.DetectorFactory.seed = seed
    try:
        return langdetect.detect(text)
    except langdetect.LangDetectException:
        return "-"


lines = []
with open(PATH, encoding="utf-8") as file:
    for text in (line.rstrip("\n").split("\t")[1] for line in file):
        codes = {told(text, seed) for seed in range(40)}
        if len(codes) == 1:
            lines.append(f"{codes.pop()}\t{text}\n")
        else:
            print("left out:", codes, text)
with open(PATH, "w", encoding="utf-8") as file:
    file.writelines(lines)
