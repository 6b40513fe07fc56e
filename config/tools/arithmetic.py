"""arithmetic.py - recomputes what a text states: "12 x 3 = 36", and totals under a list of amounts.

A statement is two or more numbers with + - x * / between them (spaces around + and -), an equals sign and the result, which may be
rounded to the places that it has: 2/3 = 0.67. A list is two or more lines, one after the other, that are bullets, table rows or "label: amount" and end in a
number; the total is the line under it that is named so. What is neither is not looked at.
"""
import re
from fractions import Fraction

from findings import answer, draft, finding

WIDE = str.maketrans("０１２３４５６７８９．，＋－×＊／＝", "0123456789.,+-x*/=")  # one character for one: places stay
NUMBER = r"[$€£¥]?\d+(?:,\d{3})*(?:\.\d+)?"
UNIT = r"(?:\s?(?:%|円|yen|USD|EUR|JPY|[€$£]))?"
OPERATOR = r"(?:\s*[x×*·/÷]\s*|\s+[-+−–]\s+)"
STATEMENT = re.compile(rf"(?<![\w.,]){NUMBER}{UNIT}(?:{OPERATOR}{NUMBER}{UNIT})+\s*=\s*-?{NUMBER}(?![\w,]*\d)")
ITEM = re.compile(rf"^\s*(?:[-*•|]|[^:：|]+[:：]).*?(-?{NUMBER}){UNIT}\s*\|?\s*$")
TOTAL = re.compile(r"total|\bsum\b|合計|小計|総計", re.I)


def value(text):
    text = text.strip()
    number = Fraction(re.sub(r"[^\d.-]", "", text.replace("−", "-")))
    return number / 100 if text.endswith("%") else number


def compute(expression):
    """Products before sums; + 10 % is of all before it. None: a division by nothing."""
    parts = re.split(rf"({OPERATOR})", expression)
    terms = [value(parts[0])]
    for operator, operand in zip(parts[1::2], parts[2::2]):
        operator = operator.strip()
        if operator in "x×*·":
            terms[-1] *= value(operand)
        elif operator in "/÷":
            if not value(operand):
                return None
            terms[-1] /= value(operand)
        else:
            sign = 1 if operator == "+" else -1
            terms.append(sign * value(operand) * (sum(terms) if operand.strip().endswith("%") else 1))
    return sum(terms)


def shown(number):
    return f"{float(number):,.6f}".rstrip("0").rstrip(".")


def is_right(exact, stated):
    places = len(stated.partition(".")[2])
    return abs(exact - value(stated)) * 2 <= Fraction(1, 10**places)


def statements(text, plain):
    for match in STATEMENT.finditer(plain):
        expression, _, stated = match.group().rpartition("=")
        exact = compute(expression)
        if exact is not None and not is_right(exact, stated.strip()):
            yield finding(5, f"{expression.strip()} is {shown(exact)}, not {stated.strip()}",
                          text[match.start():match.end()])


def totals(text, plain):
    items = []
    for line, raw in zip(plain.split("\n"), text.split("\n")):
        match = ITEM.match(line)
        if not match:
            items = [] if not re.fullmatch(r"[\s|:-]*", line) or not line.strip() else items  # the rule of a table
            continue
        amount = value(match[1])
        if TOTAL.search(line) and len(items) > 1:
            if sum(items) != amount:
                yield finding(5, f"the amounts above add up to {shown(sum(items))}, not {match[1]}", raw)
            items = []
        items.append(amount)


text = draft()
plain = text.translate(WIDE)
answer([*statements(text, plain), *totals(text, plain)])
