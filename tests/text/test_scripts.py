import pytest

from thresher.text.scripts import is_english, scripts_of

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


@pytest.mark.parametrize(
    "text",
    [
        "Marie Curie moved to Paris.",
        "the committee met in geneva on monday and agreed",
        "I was there, he said.",
        "Merkel told the Bundestag that the Kanzleramt would not wait.",
    ],
)
def test_english_is_recognised(text):
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Hij is in Parijs met zijn vrouw en we zijn er ook",
        "Er war in Berlin und hat das Buch",
        "O presidente foi a Lisboa e as pessoas",
        "Han var i København, og han så på byen",
        "El presidente de la nación",
        "Waziri Mkuu wa Tanzania",
        "東京は日本の首都です。その人口は the largest",
        "",
        "2026",
    ],
)
def test_other_languages_are_not_english(text):
    assert not is_english(text)
