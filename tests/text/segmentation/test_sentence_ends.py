"""Ends of sentences, shown as ` | ` in each example."""

import pytest

from thresher.text import segment

ENGLISH = [
    "Mr. Smith met Dr. Jones. | They spoke.",
    "He lives in the U.S. | It is large.",
    "The U.S. Government said so. | Nobody else did.",
    "J. K. Rowling wrote it. | J.K. Rowling did.",
    "It began at 5 p.m. on Jan. 5 in St. Petersburg.",
    "Acme Inc. was sold. | She works for Acme Inc. | The deal closed.",
    "See No. 5, pp. 3-4 and e.g. this. | No. | He refused.",
    "It grew by 3.5 percent to $1.2bn. | Wait for example.com. | Then 2.0 came.",
    "Wait... maybe not. | And then... | Nothing.",
    "Well . . . what now? | Go.",
    "Then . . .... | Nothing? .! | He went.",
    "What?! | No! | Really?",
    "Was it Acme Inc? | Nobody knew. | Ask the Dr! | Smith did.",
    '"Go." | He left. | (She stayed.) | "Why?" she asked. | ‘Because.’ | Fine.',
    "“Sit down.” | “No.” | He stood [alone.] | End.",
    "So do I. | World War I. | Germany lost.",
    "Take plan B. | The rest is easy.",
    "the first. | the second? | the third, by mr. jones etc. and others.",
    "IV. The Battle. | 2. Then we left.",
    "They cited Roe v. Wade. | It was overruled.",
]
FORGOTTEN_SPACE = "It was late.|He left. | Mail Ann.Lee@x.org or see www.Foo.org now."
OTHER_SCRIPTS = [
    "他来了。|我走了！|“你好吗？”|他问。|「はい。」|次の文。",
    "هل أنت بخير؟ | نعم۔ | شكرا.",
    "यह एक वाक्य है। | यह दूसरा है॥ | तीसरा।",
    "ሰላም ነው። | እንዴት ነህ፧ | ደህና ነኝ፡፡ | እሺ።",
    "Ողջույն։ | Ինչպես ես։",
    "« Oui. » | Il part. | »Hallo.« | »Ja.« | „Gut.“ | Dann ging er.",
    "Mo lọ o. | Ẹ wá.",
    "Привет! | Как дела? | Хорошо.",
]


@pytest.mark.parametrize("example", [*ENGLISH, FORGOTTEN_SPACE, *OTHER_SCRIPTS])
def test_sentences_end_where_marked(example):
    text = example.replace(" | ", " ").replace("|", "")
    expected = [part.strip() for part in example.split("|")]
    assert [text[s.start : s.end] for s in segment(text)] == expected


@pytest.mark.parametrize("text", ["Is it 1.5 or 2.5? i think 2", "no stop", "...", "?", ". ."])
def test_the_last_sentence_needs_no_full_stop(text):
    assert segment(text)[-1].end == len(text)
