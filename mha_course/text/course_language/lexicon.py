"""The words of the course language, most frequent first in every list.

Frequencies follow Zipf's law (Zipf 1935) in Mandelbrot's form: the word at rank r of a list is drawn with
a weight of 1 / (r + flat). Words of a topic are rare; the others serve whatever the sentence is about.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Noun:
    """A noun in both numbers.

    kind: person, animal, thing or place. topic: one of `TOPICS`, or "". at: for a place the preposition that
    says that someone is there.
    """

    singular: str
    plural: str
    kind: str
    topic: str = ""
    at: str = ""


@dataclass(frozen=True)
class Verb:
    """A verb in the present tense. takes: kinds of its object, empty when it has none."""

    singular: str
    plural: str
    takes: tuple[str, ...] = ()
    doers: tuple[str, ...] = ("person",)


_IRREGULAR = {
    "child": "children",
    "goose": "geese",
    "calf": "calves",
    "mouse": "mice",
}


def plural_of(noun: str) -> str:
    """The plural of an English noun: irregular ones by a list, the rest by the ending."""
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if noun.endswith("man"):
        return noun[:-3] + "men"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "z", "ch", "sh")) else "s")


def third_person(verb: str) -> str:
    """The form of a verb after he, she or it."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


_ON = set("hill bridge island beach ship pier pasture stage balcony".split())


def _nouns(kind: str, words: str, topic: str = "") -> list[Noun]:
    def at(word: str) -> str:
        return "" if kind != "place" else "on" if word in _ON else "at" if word == "river" else "in"

    return [Noun(word, plural_of(word), kind, topic, at(word)) for word in words.split()]


NOUNS: tuple[Noun, ...] = (
    *_nouns(
        "person",
        "child woman man friend girl boy teacher neighbour doctor visitor driver guest stranger tourist nurse"
        " painter student writer cousin waiter",
    ),
    *_nouns("animal", "dog cat horse bird fox mouse pony rabbit duck donkey"),
    *_nouns(
        "thing",
        "book letter box picture key lamp bag chair map basket bottle ladder parcel blanket cup ball ticket"
        " umbrella clock window",
    ),
    *_nouns(
        "place",
        "house garden street town room river school hill bridge village forest park kitchen station market"
        " castle",
    ),
)

TOPIC_NOUNS: dict[str, tuple[Noun, ...]] = {
    "sea": (
        *_nouns("person", "sailor captain pirate diver skipper rower mermaid", "sea"),
        *_nouns("animal", "crab seal whale gull shark turtle", "sea"),
        *_nouns("thing", "anchor sail net compass oar mast shell raft", "sea"),
        *_nouns("place", "harbour island beach ship pier cave", "sea"),
    ),
    "farm": (
        *_nouns("person", "farmer shepherd miller gardener dairyman reaper cowboy", "farm"),
        *_nouns("animal", "cow hen goat lamb calf goose", "farm"),
        *_nouns("thing", "tractor plough pumpkin bucket rake spade saddle hive", "farm"),
        *_nouns("place", "barn field orchard meadow stable pasture", "farm"),
    ),
    "stage": (
        *_nouns("person", "singer actor dancer drummer clown juggler pianist", "stage"),
        *_nouns("animal", "parrot monkey poodle lion tiger camel", "stage"),
        *_nouns("thing", "guitar drum mask piano harp violin puppet flute", "stage"),
        *_nouns("place", "theatre stage circus tent ballroom balcony", "stage"),
    ),
    "science": (
        *_nouns("person", "chemist inventor botanist engineer expert genius surgeon", "science"),
        *_nouns("animal", "frog spider beetle lizard moth rat", "science"),
        *_nouns("thing", "lens battery magnet robot fossil rocket prism telescope", "science"),
        *_nouns("place", "lab museum library clinic workshop tower", "science"),
    ),
}

TOPICS: tuple[str, ...] = tuple(TOPIC_NOUNS)


def _verbs(words: str, takes: tuple[str, ...], doers: tuple[str, ...] = ("person",)) -> list[Verb]:
    return [Verb(third_person(word), word, takes, doers) for word in words.split()]


VERBS: tuple[Verb, ...] = (
    *_verbs("see watch find follow know", ("person", "animal", "thing"), ("person", "animal")),
    *_verbs("take bring carry need keep hold want hide drop buy paint move clean mend sell draw", ("thing",)),
    *_verbs("help meet call visit thank trust greet teach", ("person",)),
    *_verbs("leave enter cross", ("place",), ("person", "animal")),
    *_verbs("chase hear fear avoid", ("person", "animal"), ("animal",)),
    *_verbs("wait sleep live rest play stay", (), ("person", "animal")),
    *_verbs("work sing walk laugh sit dance read listen", ()),
)

ADJECTIVES: dict[str, tuple[str, ...]] = {
    "person": tuple("young old kind tall happy tired quiet clever brave busy honest polite lonely".split()),
    "animal": tuple("young old small hungry wild quick gentle lazy noisy white brown clever".split()),
    "thing": tuple("new old small heavy red beautiful strange broken empty wooden green dusty cheap".split()),
    "place": tuple("old quiet little dark large famous empty narrow green distant sunny peaceful".split()),
}

PREPOSITIONS: dict[str, tuple[str, ...]] = {
    "place": tuple("near from behind at beside outside".split()),
    "person": tuple("with for behind without beside".split()),
    "animal": tuple("with behind near beside".split()),
    "thing": tuple("with near under beside without".split()),
}

SINGULAR_DETERMINERS: tuple[str, ...] = ("a", "this", "that", "another", "every", "each")
PLURAL_DETERMINERS: tuple[str, ...] = ("some", "these", "those", "all")
PLAIN_DETERMINERS = 3  # the first ones of both lists, which also sound right behind a preposition
ARTICLE: str = "the"
POSSESSIVES: tuple[str, ...] = ("his", "her", "my", "our", "their")
NUMERALS: tuple[str, ...] = ("two", "three", "four", "five")
ADVERBS: tuple[str, ...] = tuple(
    "often always never now sometimes quietly gladly still slowly rarely".split()
)
AUXILIARIES: tuple[str, ...] = ("can", "will", "must")
CONJUNCTIONS: tuple[str, ...] = ("and", "but")
SUBORDINATORS: tuple[str, ...] = ("while", "because", "when", "if")
RELATIVE: str = "that"
EMPHATIC: tuple[str, ...] = ("very", "rather", "quite")
STOP: str = "."
