import pytest

from thresher.text.scripts import scripts_of

TEXTS = {
    "Marie Curie moved to Paris.": "Latin",
    "東京は日本の首都です。": "Han",
    "Ни сна, ни отдыха": "Cyrillic",
    "ጠቅላይ ሚኒስትር": "Ethiopic",
    "प्रधानमंत्री नरेंद्र मोदी": "Devanagari",
    "ראש הממשלה": "Hebrew",
    "زار الرئيس المصري": "Arabic",
    "สวัสดี": "Thai",
    "ភ្នំពេញ": "Khmer",
    "சென்னை": "Tamil",
}


@pytest.mark.parametrize(("text", "script"), TEXTS.items())
def test_the_largest_script_comes_first(text, script):
    assert next(iter(scripts_of(text))) == script


def test_scripts_are_fractions_of_the_letters():
    assert scripts_of("ab 12 ሚኒ !") == {"Latin": 0.5, "Ethiopic": 0.5}
    assert scripts_of("12, 13!") == scripts_of("১২ –") == {}
