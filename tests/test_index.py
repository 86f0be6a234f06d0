"""The index against scikit-learn, against a fresh build, and against foreign rows."""

from collections.abc import Iterator
from itertools import pairwise
from math import fsum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from memkit.read.analyze import analyze, forget_cached
from memkit.read.index import Document, Partition, Scored, View, search

WORDS = "cache timeout retries prod.cfg maxRetries the pnpm 用pnpm安装 数据库 密码 超时 为什么 的 src/app.py v1.2 🙂 not".split()  # noqa: SIM905
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join) | st.text(max_size=20)
stores = st.lists(st.lists(texts, max_size=6), min_size=1, max_size=4)
edits = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abcde"), texts | st.none()), max_size=25)


def oracle(documents: dict[str, str], query: str) -> dict[str, float]:
    """The cosines that scikit-learn gives, fitted on exactly these documents; those above 0."""
    if not any(analyze(text) for text in documents.values()):
        return {}  # scikit-learn refuses to fit on an empty vocabulary
    vectorizer = TfidfVectorizer(analyzer=analyze)
    rows = vectorizer.fit_transform(documents.values())
    cosines = (rows @ vectorizer.transform([query]).T).toarray()[:, 0]
    return {id: float(cosine) for id, cosine in zip(documents, cosines, strict=True) if cosine > 0}


def build(documents: dict[str, str]) -> Partition:
    partition = Partition()
    for id, text in documents.items():
        partition.put(Document(id), text)
    return partition


def named(store: list[list[str]]) -> list[dict[str, str]]:
    return [{f"p{p}d{d}": text for d, text in enumerate(documents)} for p, documents in enumerate(store)]


@given(stores, texts, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_scores_equal_scikit_learn_fitted_on_exactly_the_visible_documents(store, query, random) -> None:
    documents = named(store)
    partitions = [build(each) for each in documents]
    shown = sorted(random.sample(range(len(store)), random.randint(0, len(store))))
    hits = search([partitions[at] for at in shown], query)
    expected = oracle({id: text for at in shown for id, text in documents[at].items()}, query)
    assert {hit.id: hit.score for hit in hits} == pytest.approx(expected, abs=1e-9)
    assert [hit.id for hit in hits] == sorted(expected, key=lambda id: (-round(expected[id], 9), id)) or near_ties(hits)


def near_ties(hits: list[Scored]) -> bool:
    """Whether two neighbours differ by less than scikit-learn's own rounding, so that its order says nothing."""
    return any(0 < abs(one.score - other.score) < 2e-9 for one, other in pairwise(hits))


@given(edits, texts)
@settings(deadline=None)
def test_after_any_edits_lists_are_bit_identical_to_a_fresh_build(steps, query) -> None:
    grown, present = [Partition() for _ in range(3)], [{}, {}, {}]
    for at, name, text in steps:
        id = f"{at}{name}"
        if text is None:
            grown[at].drop(id)
            present[at].pop(id, None)
        else:
            grown[at].put(Document(id), text)
            present[at][id] = text
        search(grown, query)  # so that remembered norms would be found out
    fresh = [build(dict(sorted(each.items()))) for each in present]
    assert search(grown, query) == search(fresh, query) == search(fresh[::-1], query)
    assert search(grown[:2], query) == search(fresh[:2], query)
    assert [contents(partition) for partition in grown] == [contents(partition) for partition in fresh]


def contents(partition: Partition) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, int]]]:
    """All that a partition says, by id and by term, whatever its rows and numbers."""
    view = View([partition])
    by_term = {
        term: dict(zip(map(view.id, view.postings(term)[0].tolist()), view.postings(term)[1].tolist(), strict=True))
        for term in view.terms()
    }
    assert view.lengths.tolist() == [sum(view.counts(row).values()) for row in range(view.size)]
    return {id: partition.counts(id) for id in partition}, by_term


@given(stores, texts)
@settings(deadline=None)
def test_parts_add_up_to_the_score_and_name_terms_of_the_query(store, query) -> None:
    for hit in search([build(each) for each in named(store)], query):
        assert hit.score == pytest.approx(fsum(gain for _, gain in hit.parts), abs=1e-12)
        assert {term for term, _ in hit.parts} <= set(analyze(query))
        assert list(hit.parts) == sorted(hit.parts)


def test_ten_thousand_foreign_documents_change_no_score_and_no_rank() -> None:
    mine, foreign = build({"m1": "cache timeout 30", "m2": "cache 超时", "m3": "retries"}), Partition()
    before = search([mine], "cache 超时 timeout")
    for row in range(10_000):
        foreign.put(Document(f"f{row}"), "cache timeout 超时")
    assert search([mine], "cache 超时 timeout") == before
    assert [hit.id for hit in before] == ["m2", "m1"]
    seen_together = search([mine, foreign], "cache 超时 timeout")
    assert len(seen_together) == 10_002  # the rows were there to be found
    assert {hit.id: hit.score for hit in seen_together}["m1"] != before[1].score


def test_equal_scores_are_ordered_by_id_whatever_the_order_of_arrival() -> None:
    expected = ["a", "b", "c", "d"]
    for ids in ("abcd", "dcba", "bdac"):
        hits = search([build(dict.fromkeys(ids[:2], "pnpm")), build(dict.fromkeys(ids[2:], "pnpm"))], "pnpm")
        assert [(hit.id, hit.score) for hit in hits] == [(id, 1.0) for id in expected]


@pytest.mark.parametrize("query", ["", "what is it", "为什么", "🙂", "zebra", "\ud800", "'\"*:^~()", "x" * 100_000])
def test_a_query_of_unknown_or_stop_words_finds_nothing(query) -> None:
    partition = build({"m1": "what is the cache timeout 为什么"})
    assert search([partition], query) == []
    assert [hit.id for hit in search([partition], f"{query} timeout")] == ["m1"]
    assert search([], "timeout") == [] == search([Partition()], "timeout")


def test_an_unknown_term_beside_a_known_one_does_not_lower_the_score() -> None:
    partition = build({"m1": "cache timeout"})
    assert search([partition], "cache timeout zebra") == search([partition], "cache timeout")


def test_documents_without_terms_count_as_documents() -> None:
    view = View([build({"m1": "cache", "m2": "the"})])
    assert (view.size, view.df("cach"), view.idf("cach")) == (2, 1, pytest.approx(1.4054651081081644))


def test_put_replaces_and_drop_of_an_unknown_id_is_silent() -> None:
    partition = build({"m1": "cache", "m2": "timeout"})
    partition.put(Document("m1"), "retries")
    partition.drop("nobody")
    assert list(partition) == ["m2", "m1"]
    assert search([partition], "cache") == []
    assert [hit.id for hit in search([partition], "retry")] == ["m1"]


def test_putting_the_same_text_again_changes_nothing() -> None:
    partition = build({"m1": "cache timeout"})
    before = partition.stamp
    partition.put(Document("m1"), "timeout cache")
    assert partition.stamp is before
    partition.put(Document("m1"), "timeout cache cache")
    assert partition.stamp is not before


def test_a_change_touches_its_own_terms_and_partition_alone() -> None:
    shop, other = build({"m1": "cache", "m2": "timeout"}), build({"m3": "cache"})
    number, stamp = shop.terms["timeout"], other.stamp
    kept, packed = shop.postings[number], list(shop.postings[number])
    shop.put(Document("m3"), "retries")
    shop.put(Document("m3"), "retry")
    assert shop.postings[number] is kept and list(kept) == packed
    assert other.stamp is stamp


def everything_in(thing: object) -> Iterator[object]:
    """The object and all it holds: keys, values, members, attributes."""
    yield thing
    if isinstance(thing, dict):
        inside = [*thing, *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset):
        inside = list(thing)
    else:
        inside = list(vars(thing).values()) if hasattr(thing, "__dict__") else []
    for each in inside:
        yield from everything_in(each)


@given(texts, texts, texts)
@settings(deadline=None)
def test_drop_leaves_no_term_and_no_id_that_only_that_document_had(kept, secret, query) -> None:
    partition = build({"kept": kept, "gone": f"{secret} quokka"})
    search([partition], f"{query} quokka")
    assert {"quokka", "gone"} <= set(strings_in(partition))
    partition.drop("gone")
    assert set(strings_in(partition)) == {"kept", *analyze(kept)}
    search([partition], f"{query} quokka")
    assert set(strings_in(partition)) == {"kept", *analyze(kept)}


def strings_in(partition: Partition) -> Iterator[str]:
    return (each for each in everything_in(partition) if isinstance(each, str) and each)


def test_the_text_itself_is_not_kept() -> None:
    text = "The cache timeout is thirty"
    assert not any(text in each for each in strings_in(build({"m1": text})))


def test_a_view_says_whether_it_still_shows_what_is_there() -> None:
    shop, mine = build({"m1": "cache"}), build({"m2": "cache"})
    view = View([shop, mine])
    assert view.shows([shop, mine]) and not view.shows([mine, shop]) and not view.shows([shop])
    mine.put(Document("m3"), "timeout")
    assert not view.shows([shop, mine]) and View([shop, mine]).shows([shop, Partition(), mine])


def test_forgetting_the_last_copy_leaves_nothing_once_the_cache_is_emptied() -> None:
    partition = build({"m1": "quokka"})
    partition.drop("m1")
    forget_cached()
    assert set(strings_in(partition)) == set()


@given(st.lists(texts, min_size=1, max_size=6), texts)
@settings(max_examples=30, deadline=None)
def test_one_partition_or_many_is_the_same(documents, query) -> None:
    together = {f"d{n}": text for n, text in enumerate(documents)}
    assert search([build(together)], query) == search([build({id: text}) for id, text in together.items()], query)
