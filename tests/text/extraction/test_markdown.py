"""Markdown is reduced to its text, without code."""

from thresher.text.extraction.markdown import extract_markdown

PAGE = """---
title: "A trip"
date: 2024-05-01
---
# Trip to *Oslo*

We saw **Anna [Berg](http://x.y)** and ~~Lars~~
on the way. ![Logo Acme](a.png)\\
Then home.

```python
Acme.Run()
```

    Acme.Indented()

| Name | City |
|---|---|
| Ann | Rome |

- one <b>bold</b>
    - two

<div><p>Html &amp; <i>block</i></p></div>

[Acme]: http://x.y
"""


def test_links_emphasis_and_tables_are_reduced_to_their_text_and_code_is_left_out():
    extracted = extract_markdown(PAGE)
    assert extracted.text.split("\n\n") == [
        "Trip to Oslo",
        "We saw Anna Berg and Lars on the way. \nThen home.",
        "Name", "City", "Ann", "Rome",
        "one bold", "two",
        "Html & block",
    ]  # fmt: skip
    assert extracted.fields == {"title": "A trip", "date": "2024-05-01"}


def test_text_that_only_begins_with_a_rule_has_no_front_matter():
    assert extract_markdown("---\n\nAnna left.\n").text == "Anna left."
    assert extract_markdown("").text == ""
