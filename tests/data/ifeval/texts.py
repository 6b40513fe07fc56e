"""texts.py - the texts whose verdicts reference.py writes into cases.jsonl: (type, arguments, texts)."""

BLANK = ["", " \n\t", "\u00a0\u3000"]


def words(n, relation):
    return "length_constraints:number_words", {"num_words": n, "relation": relation}


def sentences(n, relation="at least"):
    return "length_constraints:number_sentences", {"num_sentences": n, "relation": relation}


def capitals(n, relation="at least"):
    return "change_case:capital_word_frequency", {"capital_frequency": n, "capital_relation": relation}


def paragraphs(n):
    return "length_constraints:number_paragraphs", {"num_paragraphs": n}


def first(n, nth, word):
    return "length_constraints:nth_paragraph_first_word", {"num_paragraphs": n, "nth_paragraph": nth, "first_word": word}


def exactly(counted, n, texts):
    """Two cases a text, which together say that @n are counted."""
    (kind, at_least), (_, less_than) = counted(n, "at least"), counted(n + 1, "less than")
    return [(kind, at_least, texts), (kind, less_than, texts)]


CASES = [
    # A blank text fails whatever is asked.
    ("punctuation:no_comma", {}, BLANK),
    (*words(5, "less than"), BLANK),
    (*sentences(5, "less than"), BLANK),
    (*capitals(5, "less than"), BLANK),
    ("keywords:forbidden_words", {"forbidden_words": ["x"]}, BLANK),
    ("keywords:frequency", {"keyword": "x", "frequency": 1, "relation": "less than"}, BLANK),

    ("keywords:existence", {"keywords": ["art", "Über"]}, [
        "Party über alles.", "ART and ÜBER", "art and uber", "über", "A R T über", "art u\u0308ber"]),
    ("keywords:existence", {"keywords": ["kelvin", "straße"]}, ["\u212aelvin straße", "KELVIN STRAẞE", "Kelvin strasse"]),
    ("keywords:existence", {"keywords": ["two words"]}, ["Two Words.", "two  words", "two\nwords"]),
    ("keywords:frequency", {"keyword": " ana ", "frequency": 2, "relation": "at least"}, [
        "banana", "ana ANA", "Ana, banana.", "an a", "bananana"]),
    ("keywords:frequency", {"keyword": "ﬁn", "frequency": 1, "relation": "less than"}, ["fin", "ﬁn", "ﬁnal ﬁn"]),
    ("keywords:forbidden_words", {"forbidden_words": ["art", "New York"]}, [
        "A party.", "Art's end", "art-x", "art_x", "ART", "new york", "new  york", "New Yorker", "xart art1", "art2 2art", "(art)", "artéart",
        "arte\u0301", "art\u0301", "smart smart smart art"]),
    ("keywords:forbidden_words", {"forbidden_words": ["y-", "-x"]}, ["y-", "y- is", "y-a", "Y-1", "a-x", " -x", "a-xy"]),
    ("keywords:letter_frequency", {"letter": "I", "let_frequency": 3, "let_relation": "at least"}, [
        "iIi", "II", "iı\u0130i", "\u0130\u0130\u0130", "ííí", "ＩＩＩ"]),
    ("keywords:letter_frequency", {"letter": "k", "let_frequency": 2, "let_relation": "less than"}, ["k", "kK", "\u212ak", "q"]),

    *exactly(words, 4, ["one two three four", "don't well-known", "3.5 a_b x", "e-mail@x.com", "  a\tb\nc\u00a0d  ", "a-b--c...d", "½ ² Ⅷ 五",
                        "नमस्ते दुनिया", "日本語です。 とても 良い 本", "e\u0301a b", "a\u200bb c d", "I'm 4th x"]),

    *exactly(sentences, 1, [
        "One", "One.", "A heading\n\nand a text.", "It is 3.5 or v1.2 here.", "He said end.Next he left.", "日本語です。次の文です！本当？はい。",
        "Mr. Smith and Dr. Jones vs. the rest.", "He lives at Main St. in Boston.", "J. Smith came.", "Wait... no.", "Prices of 3. are low.",
        "(He left.)", "\"He left.\"", "Acme Inc. is big.", "It costs $5. per unit.", "Stop!now", "Really?Yes", "In 5. review we said it."]),
    *exactly(sentences, 2, [
        "One. Two.", "One? two", "One! two.", "1. Do this.", "In the U.S. It is.", "In the U.S. Most live.", "He left. (So did she.)", "\"Go.\" He left.",
        "Go.) He left.", "Stop.\nGo.", "Stop.\n\nGo", "etc. and so", "See e.g. this one.", "He left (at once.) Then.", "Wait... The end.", "One.\u00a0Two c.",
        "One.\u3000Two", "Go.* Left", "He left. 'So what?'", "Oh. . no", "Why?!", "one. two", "Mr. It is.", "No. 5 is alive."]),
    *exactly(sentences, 4, ["1. Do this. 2. Do that.", "!?!? Yes. No", "A: Yes.\nB: No.\nC: Why?\nD", "Yes.\" \"No.\" \"Why?\" Well"]),
    *exactly(sentences, 3, ["Yes. No. *", "* One.\n* Two.\n* Three.", "One. \" Two. '", "Hm.-- No. Oh", "He said: \"No.\" \"Yes.\" She left."]),

    *exactly(capitals, 2, [
        "I A", "DON'T", "I'M", "DOG'S", "CANNOT", "GIMME", "A&B", "HELLO...BYE", "AB,CD", "A1:B2", "THIS/THAT X", "U.S. NATO", "COVID-19 and AND/OR",
        "NASA's ISS", "I'm I'd", "IT’S", "'TIS true", "“YES” (NO)", "A--B", "2ND X-Y", "WE'VE", "SHE'LL", "I, A; b", "AB,1 C:2", "A\u00a0B", "Ⅷ A",
        "ÄÖ ÜB", "日本A B語", "WANNA", "A''B", "ROCK'N'ROLL B", "IT'S.", "Nº NO YES", "ABCd EF GH", "`A` <B>", "A*B", "I'm. A I"]),

    *[(*paragraphs(2), texts) for texts in [[
        "One.\n***\nTwo.", "One. *** Two.", "One.***Two.", "***\nOne.\n***\nTwo.\n***", "One.\n\n***\n\nTwo.", "One. ****Two.", "One ****** two",
        "One.\n* * *\nTwo.", "One.\n---\nTwo.", "One.", "A\n***\nB\n***\nC", "A *** *** B", "A\u3000***\u3000B", "A ***\n"]]],
    (*paragraphs(1), ["***bold***", "***", "One.\n\nTwo.", "*** One"]),
    (*first(2, 2, "Word"), [
        "One.\n\nWord two.", "One.\n\n  word, two", "One.\n\n\n\nWord", "\n\nOne.\n\nWord", "One.\n \nWord", "One.\r\n\r\nWord", "One.\n\n\nWord",
        "One.\n\n**Word** two", "One.\n\nWord: two", "One.\n\n\"Word\" two", "One.\n\n'\"Word", "One.\n\n\"'Word", "One.\n\nWord's end", "One.\n\nWord-x",
        "One.\n\nWord;", "One.\n\n(Word)", "One.\n\nWord\n\nThree", "Word\n\nOne", "One.\n\nWord\n\n", "One.\n\nWords", "One.\n\nword!", "One.\n\nWord’s"]),
    (*first(3, 1, "the"), ["The a\n\nb\n\nc", "\n\nThe a\n\nb\n\nc", "a\n\nb\n\nc"]),

    ("detectable_content:number_placeholders", {"num_placeholders": 2}, [
        "[a] [b]", "[] []", "[ ] todo [link](x)", "[[a]]", "[[a]] [b]", "[a\nb] [c]", "[a", "[a [b] c]", "[a]\n[b", "][][]"]),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, [
        "Text.\nP.S. More", "text p.s. more", "P.P.S. x", "PS: x", "P.S y", "P. S. y", "P.\nS. y", "P.  S. y", "xp.s.", "P.S"]),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, [
        "P.P.S x", "p.p.s", "P. P. S", "P.P. S.", "P.S.", "P.P.P.S", "P.\u00a0P.\nS", "PPS"]),
    ("detectable_content:postscript", {"postscript_marker": "Note: "}, ["NOTE: x", "a note:", "note x"]),

    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, [
        "* a\n* b", "- a\n- b", "* a\n- b", "*a\n*b", "**a**\n* b\n* c", "---\n* a", "-5 degrees\n-6", "*emphasis* x\n- y", "***\n* a\n* b", "* a\n  * b",
        "• a\n• b", "1. a\n2. b", "+ a\n+ b", "* * *\n* a", "*\na\n* b", "*\n* a\n* b", "a * b\n* c\n* d", "* a\n\n\n* b", "\u3000* a\n\t- b", "* a\r\n* b", "*",
        "* a\n*", "- a\n-", "text", "*\n\n* b\n* c"]),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, [
        "*a* *b*", "**a** **b**", "*a*", "**a**", "***a***", "a * b * c * d", "* one *two*\n* x *y*", "__a__ __b__", "*a\nb*", "* * *a*", "** ** **a**",
        "****a****", "*a**b*", "*a* **b**", "* *\u3000*", "*a*b*c*", "**a*b**"]),
    ("detectable_format:multiple_sections", {"section_spliter": "SECTION", "num_sections": 2}, [
        "SECTION 1\na\nSECTION 2\nb", "**SECTION 1** SECTION2", "Section 1 Section 2", "SECTION: 1\nSECTION: 2", "SECTION  1 SECTION 2 SECTION 3",
        "SECTION A SECTION B", "see SECTION 1, SECTION 1", "SECTION\n1 SECTION\u00a02", "SECTION １ SECTION ²", "SECTIONSECTION 1 SECTION 12SECTION 3"]),
    ("detectable_format:json_format", {}, [
        "{\"a\": [1, 2.5e-3, -0, true, false, null, \"x\\u00e9\\n\"]}", "42", "\"x\"", "NaN", "[-Infinity]", "-NaN", "```json\n{}\n```", "```\n[]\n```", "```JSON {}```",
        "```Json []", "```jsonc\n{}\n```", "Here: {}", "{} x", "{\"a\": 1,}", "[1,]", "[,1]", "{a: 1}", "{'a': 1}", "[01]", "[1.]", "[.5]", "[1e]", "[+1]", "\"a\nb\"",
        "\"a\tb\"", "\"\\ud800\"", "\"\\u00g0\"", "\"\\x\"", "{\"a\":1,\"a\":2}", "\ufeff{}", "[[[[]]]]", "[}", "{\"a\"}", "{\"a\" : }", "[1 2]", "\u00a0{}\u3000", "[1]\u00a0, 2",
        "[\u00a01]", "", "```json```", "nul", "tru", "{\"é\": \"日本\"}", "-", "[-]", "1e400", "[" + "9" * 4301 + "]", "[" + "9" * 4300 + "]", "[" + "9" * 4301 + ".0]", "{}{}", "\"\\\\\"",
        "\"\\\"", "[1,\n2]\n", "{\"a\":{\"b\":[{},[]]}}", "{\"a\":1 \"b\":2}", "[true,false,nullx]", "\"\u007f\""]),
    ("detectable_format:constrained_response", {}, [
        "My answer is yes.", "Well. My answer is no. Sorry.", "my answer is maybe.", "My answer is yes", "My answer is maybe.", "My answer is 'no.'"]),
    ("detectable_format:title", {}, [
        "<<A title>>\nText", "x << y >> z", "<<>>", "<< >>", "<<<>>>", "<<\nx>>", "<x>", "<<a", ">>a<<", "<< >> b >>", "<<a>", "<<<a>>>", "<<>> <<b>>", "<<\u3000>>",
        ">> <<c>>"]),

    ("combination:two_responses", {}, [
        "a\n******\nb", "a ****** A", "a******a", "a ****** a\n", "******a******b******", "a******b******c", "a************b", "a*******b", "a***********b", "a\n***\nb", "a",
        "******", "a******\n******b", "a****** \n******", "a * * * * * * b"]),
    ("combination:repeat_prompt", {"prompt_to_repeat": " Write a “Poem”. "}, [
        "Write a “Poem”. Roses", "  WRITE A “POEM”.", "Write a \"Poem\". Roses", "\"Write a “Poem”.", "**Write a “Poem”.**", "Write a “Poem”", "Please write a “Poem”."]),
    ("startend:end_checker", {"end_phrase": "That is all, İrem! "}, [
        "Bye. That is all, İrem!", "that is ALL, i\u0307rem!", "That is all, İrem!\"", "That is all, İrem!\n", "That is all, İrem!.", "That is all, İrem!**", "That is all, İrem!”",
        "\"That is all, İrem!\" ", "That is all, İrem! \"", "all, İrem!"]),
    ("startend:quotation", {}, ["\"a\"", " \"a\"\n", "\"", "\"\"", "“a”", "\"a", "a\"", "\"a\".", "'a'", "\"a\" b \"c\""]),
    ("punctuation:no_comma", {}, ["No comma here.", "a, b", "1,000", "a，b、c", "a؛ ب، ج"]),
]
