"""Decide whether a text is English, by its frequent words and by a list of English words.

Every word is evidence for English or against it; the sum decides:

| word | evidence |
|---|---|
| frequent in English only ("the", "which") | +2, with a capital +1 |
| frequent in another language only ("nicht", "och") | -2, with a capital -1 |
| frequent in both ("in", "is", "was") | 0 |
| otherwise, on the list of English words ("shares") | +1, with a capital +0.5 |
| any other word ("anslag") | -1 |
| any other word with a letter that English lacks ("løb") | -2 |
| any other word with a capital, often a name ("Nowak") | -0.25 |

Words with digits or signs, and single letters that are not frequent words, count nothing.
"""

from collections.abc import Iterable, Set

import regex

_WORD = regex.compile(r"[\p{Latin}\p{M}][\p{Latin}\p{M}'’-]*|['’]\p{Latin}+")
_LETTER = regex.compile(r"\p{L}")
_LATIN = regex.compile(r"\p{Latin}")

_ENGLISH = frozenset(
    "the of and to a that is it its it's with his her hers from this these those are were they "
    "their them she he him you your yours we our ours us my been be being has have had when "
    "where who whose whom which what why how will would could should shall can cannot can't "
    "might must more most there then than about into out other only after also any before was "
    "wasn't not n't don't doesn't didn't isn't won't but in on as by for at or an all if do does "
    "did done over under up down off no nor so some such each every both few many much very too "
    "just now again once during while until against between because through above below here own "
    "same get got says said one two new first last year years day people time like make know 's "
    "'re 've 'll 'd 'm ’s ’re ’ve ’ll ’d ’m i'm i've i'll i’m i’ve i’ll i me am "
    # Also frequent in other languages: "man" in Danish, "war" in German, "come" in Italian.
    "see man men come care son door word met till per plus sun era hat wake pour war im "
    "due".split()
)
# Frequent words in languages with Latin letters. Words that English shares, such as the Dutch "is",
# are listed, too: they prove nothing.
_OTHER_LANGUAGES = {
    "German": "der die das den dem des und ist in im ein eine einen einem einer nicht mit sich "
    "auf für von zu zum zur war hat haben wird werden auch es an als bei nach aus wie er sie wir "
    "ich ihr sein sind dass noch nur oder aber vor über um am bis so man kann mehr wurde durch "
    "was mir mich dir uns gegen seit beim kein keine sehr hier heute wo wer warum wann",
    "Dutch and Afrikaans": "de het een en van in is dat op te zijn met voor niet aan er om ook "
    "als dan maar bij nog uit door over ze hij zij ik je we wij heeft hebben had was waren wordt "
    "naar deze dit die geen kan meer wel al tot nie sy hy ek ons vir wat sal word gaan hulle "
    "baie tegen sinds zeer hier vandaag uw mijn men so waar wie hoe waarom",
    "Danish and Norwegian": "og i at det en et den de til er som på for med af av ikke var han "
    "hun der har jeg vi fra om men så kan vil skal efter etter ved blev ble når hvor mod sig seg "
    "ham dem dig mig meg hvad hva nu kun også over under ud ut op opp man min din sin blir "
    "bliver hvem hvorfor ned",
    "Swedish": "och i att det en ett den som på för med av är inte var han hon har jag vi från "
    "om men så kan ska till vid blev när där de sig sin efter nu också under ut upp man mot hur "
    "vad vem varför ner",
    "French": "le la les de des du et est un une en dans que qui pour pas sur au aux avec il "
    "elle ce cette ces se sa son ses par plus ne nous vous ils je tu on ou où mais été sont a à "
    "y leur leurs fait comme tout être avoir était chez sans sous entre après très aussi quand "
    "quel quelle deux",
    "Spanish": "el la los las de del y que en un una es por con para se no lo al su sus más como "
    "pero fue ha son le ya o este esta está muy sin sobre también hasta hay desde todo nos me mi "
    "entre cuando uno ser era han si ni e a yo ante contra tras hoy qué dónde quién dos",
    "Portuguese": "o a os as de do da dos das e que em um uma para com não no na nos nas por se "
    "mais ao aos foi como mas é seu sua ou são ele ela pelo pela à já está muito também até isso "
    "entre era depois sem mesmo ser tem eu me sobre contra hoje onde quem dois",
    "Italian": "il lo la i gli le di del della dei delle da dal dalla in nel nella e che è un "
    "una uno per con su sul sulla non si sono ha al alla ai più come ma anche o se questo questa "
    "era suo sua ci ne a io lui lei essere stato dopo tra fra contro molto oggi ed dove chi due",
    "Catalan and Romanian": "els amb per una és dels però aquest aquesta va ser han i în la și "
    "cu de pe nu să un o este din care mai pentru ce ca sunt fost lui ale al au a fi dar după",
    "Polish, Czech and Slovak": "w i z na nie się do to jest że od po o za jak a przez jego był "
    "była dla ale są oraz przy już tylko który która v se je že s ve pro byl byla jsou jako by k "
    "si ze sa som bol bola pre ako sú aj tak gdzie kto kde kdo",
    "Croatian, Serbian, Bosnian and Slovene": "je i u na se da za su od o s do ne iz kao što "
    "koji koja koje to nije ali će sa po bi bio bila biti samo te ili već prema nakon ima in v "
    "ki so bil tudi pri še kot pa ni gde gdje tko ko",
    "Hungarian": "a az és hogy nem is egy van volt ez meg de csak már még el ki ha mint vagy "
    "lesz azt s után szerint",
    "Finnish and Estonian": "ja on ei se että oli hän ovat mutta myös kun kuin tai joka jos niin "
    "sen ole hänen mukaan ta see et kui ka oma mis aga",
    "Turkish": "ve bir bu da de için ile çok olarak daha olan ne o gibi var en kadar sonra ama "
    "değil ki mi oldu ise her",
    "Indonesian and Malay": "yang dan di ini itu dengan untuk dari pada tidak ke akan dalam "
    "adalah oleh juga telah sudah ada saya kami mereka bisa karena kata para tersebut",
    "Tagalog": "ang ng sa mga na ay at si ni hindi ito para siya kay niya ko mo po",
    "Vietnamese": "và của là có không được cho các trong một người đã với này khi đến những",
    "Swahili": "ya na wa kwa ni katika la za cha kuwa hii hiyo huo yake wake lakini baada kama "
    "pia si hayo watu alisema rais jana leo nini nani",
    "Hausa": "da ya a ta na ba kuma ga shi ne ce su sun wannan cikin daga domin amma wani wata don",
    "Igbo and Yoruba": "na nke ndi ndị ya bu bụ ka ma ga o ha n'ime si ti ni awon àwọn ní tí ó "
    "fún bí wọn pé sì ń láti ati kan gbogbo",
    "Zulu, Xhosa and Somali": "ukuthi futhi kodwa ngoba iyo waa oo ka ku uu ayaa in la si waxaa",
}
_OTHERS = frozenset(word for words in _OTHER_LANGUAGES.values() for word in words.split())
_EVIDENCE = {
    **dict.fromkeys(_ENGLISH - _OTHERS, 2.0),
    **dict.fromkeys(_OTHERS - _ENGLISH, -2.0),
    **dict.fromkeys(_OTHERS & _ENGLISH, 0.0),
}


def is_english(words: Iterable[str], vocabulary: Set[str]) -> bool:
    """Return True if the evidence of the words of a text is for English; see above.

    Without evidence, and if most letters are not Latin, the result is False.

    vocabulary: a list of English words, case-folded; it may have names and foreign words, too
    """
    words = list(words)
    text = "".join(words)
    if not text.isascii() and 2 * len(_LATIN.findall(text)) < len(_LETTER.findall(text)):
        return False
    return sum(_evidence(word, vocabulary) for word in words if _WORD.fullmatch(word)) > 0


def _evidence(word: str, vocabulary: Set[str]) -> float:
    """Return how much a word is evidence for English: from -2 to 2."""
    folded = word.casefold()
    capital = word[0].isupper()
    frequent = _EVIDENCE.get(folded)
    if frequent is not None:
        return frequent / 2 if capital else frequent
    if len(word) == 1:
        return 0.0
    if folded in vocabulary:
        return 0.5 if capital else 1.0
    if capital:
        return -0.25
    return -1.0 if word.isascii() else -2.0
