# SPDX-License-Identifier: BSD-3-Clause
"""How plainly the documents and the comments are written: lengths of sentences, and how they begin.

A sentence is one of four words or more, so that a label or a unit is none. Code, tables and headings are no prose. The figures are of
all sentences of a text, or of all comments of the sources together, so that they hang on the tree alone.
"""
import collections
import os
import re

Bounds = collections.namedtuple("Bounds", "median tenth_longest long_percent clause_percent tell_per_thousand")
# None: not bounded. Of documents each for itself, of comments all together.
DOCUMENTS = {name: Bounds(15, 28, 5, 2, 0.5) for name in ("README.md", "docs/tutorial.md", "docs/guide.md",
                                                          "docs/cluster.md", "docs/security.md", "docs/architecture.md",
                                                          "docs/truth.md", "docs/algorithm.md", "docs/format.md", "docs/json.md")}
COMMENTS = Bounds(11, 24, None, 3, None)
GUIDE_WORDS, DECISIONS_WORDS = 3500, 8000
FEWEST_WORDS, LONG_WORDS = 4, 30
CLAUSES = {"What", "Whatever", "Who", "Whoever", "Whose", "That", "How", "Where", "Nor", "Neither"}
ABBREVIATIONS = {"e.g.", "i.e.", "etc.", "cf.", "vs."}
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*(.*?)\*/|//([^\n]*)', re.S)


def markdown_paragraphs(text):
    """The paragraphs and list items of a document, each as one string."""
    lines, is_code = [], False
    for line in [*text.splitlines(), ""]:
        if line.startswith("```"):
            is_code, line = not is_code, ""
        is_apart = is_code or not line.strip() or re.match(r"#|\||    |\t", line)
        begins = re.match(r"\s*(?:[-*+]|\d+\.) ", line)
        if (is_apart or begins) and lines:
            yield " ".join(lines)
            lines = []
        if not is_apart:
            lines.append(line[begins.end():] if begins else line.strip())


def comment_paragraphs(text):
    """The paragraphs of a source's comments."""
    for found in COMMENT.finditer(text):
        comment = found[1] or found[2] or ""
        if "SPDX" not in comment:
            plain = "\n".join(re.sub(r"^\s*\*+ ?", "", line) for line in comment.splitlines())
            yield from markdown_paragraphs(plain)


def sentences(paragraph):
    """Lists of words. A sentence ends with a token that ends it, when the next one begins with a capital."""
    paragraph = re.sub(r"`[^`]*`", "code", paragraph)
    paragraph = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", paragraph)
    tokens, begin = re.sub(r"[*_>]", "", paragraph).split(), 0
    for turn, token in enumerate(tokens):
        ends = re.search(r"[.!?][\"')]*$", token) and token.lower() not in ABBREVIATIONS
        if turn + 1 == len(tokens) or ends and re.match(r"[A-Z(\"]", tokens[turn + 1]):
            words = re.findall(r"[A-Za-z][A-Za-z'-]*", " ".join(tokens[begin:turn + 1]))
            if len(words) >= FEWEST_WORDS:
                yield words, token
            begin = turn + 1


def measure(paragraphs):
    """Bounds as they are: the figures of a text, and how many sentences it has."""
    found = [pair for paragraph in paragraphs for pair in sentences(paragraph)]
    lengths = sorted(len(words) for words, _ in found)
    n, n_words = len(found), sum(lengths)
    clauses = sum(words[0] in CLAUSES and not end.rstrip("\"')").endswith("?") for words, end in found)
    tells = sum(word.lower() in ("tell", "tells", "told", "telling") for words, _ in found for word in words)
    if not n:
        return Bounds(0, 0, 0, 0, 0), 0
    return Bounds(lengths[n // 2], lengths[n * 9 // 10], 100 * sum(n > LONG_WORDS for n in lengths) / n, 100 * clauses / n,
                  1000 * tells / n_words), n


WORDS = Bounds("words in the median sentence", "words in the longest tenth of sentences", f"% of sentences over {LONG_WORDS} words",
               "% of sentences that begin with a clause", "times tell or told in a thousand words")


def beyond(name, paragraphs, bounds):
    """Lines that say which bounds a text breaks."""
    figures, n = measure(paragraphs)
    return [f"{name}: {figure:.3g} {words}; at most {bound} ({n} sentences)" for figure, words, bound in zip(figures, WORDS, bounds)
            if bound is not None and figure > bound]


def read(root, path):
    with open(os.path.join(root, path), errors="replace") as file:
        return file.read()


def complaints(root, sources, decisions):
    """Lines that say which text is too hard to read, or too long."""
    there = [path for path in DOCUMENTS if os.path.exists(os.path.join(root, path))]
    lines = [line for path in there for line in beyond(path, markdown_paragraphs(read(root, path)), DOCUMENTS[path])]
    lines += beyond("comments of wrap/ and analyze/", [text for path in sources for text in comment_paragraphs(read(root, path))], COMMENTS)
    for name, paths, most in (("docs/guide.md", [path for path in there if path.endswith("guide.md")], GUIDE_WORDS),
                              ("docs/decisions", decisions, DECISIONS_WORDS)):
        n = sum(len(read(root, path).split()) for path in paths)
        lines += [f"{name}: {n} words; at most {most}"] if n > most else []
    return lines
