"""LangChain's Redis stores as their documentation shows them: langchain_flows.py PORT PROTOCOL."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import redis
from harness import eventually, run, same
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import Generation
from langchain_redis import RedisCache, RedisChatMessageHistory, RedisConfig, RedisSemanticCache, RedisVectorStore
from redisvl.query.filter import Num, Tag, Text

PORT, PROTOCOL = map(int, sys.argv[1:3])
URL = f"redis://127.0.0.1:{PORT}/0?protocol={PROTOCOL}"
METADATA = [{"name": "kind", "type": "tag"}, {"name": "year", "type": "numeric"}, {"name": "about", "type": "text"}]
FILMS = [
    ("A spaceship meets a calm computer", {"kind": "science", "year": 1968, "about": "space and machines"}),
    ("Two robots look for a farm boy", {"kind": "science", "year": 1977, "about": "space and war"}),
    ("A cook opens a small restaurant", {"kind": "comedy", "year": 2007, "about": "food"}),
    ("A detective follows a falcon", {"kind": "crime", "year": 1941, "about": "a stolen bird"}),
]


class Letters(Embeddings):
    """Texts as how often each letter occurs: the same text is always the nearest."""

    def embed_query(self, text):
        return [float(text.lower().count(chr(ord("a") + each))) + 0.01 for each in range(26)]

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


def store(name, **options):
    config = RedisConfig(index_name=name, redis_url=URL, metadata_schema=METADATA, **options)
    vectors = RedisVectorStore(Letters(), config=config)
    keys = vectors.add_texts([text for text, _ in FILMS], [metadata for _, metadata in FILMS])
    same(len(keys), len(FILMS))
    eventually(lambda: float(vectors.index.info()["percent_indexed"]) == 1, "indexing")
    return vectors


def nearest_texts():
    vectors = store("films")
    for text, metadata in FILMS:
        found = vectors.similarity_search(text, k=2)
        same(len(found), 2)
        same(found[0].page_content, text)
        same(found[0].metadata["kind"], metadata["kind"])


def distances():
    vectors = store("films-distances", distance_metric="COSINE")
    found = vectors.similarity_search_with_score(FILMS[2][0], k=4)
    same(found[0][0].page_content, FILMS[2][0])
    same(abs(found[0][1]) < 1e-5, True)
    same([score for _, score in found], sorted(score for _, score in found))


def euclidean_distance():
    vectors = store("films-l2", distance_metric="L2", indexing_algorithm="HNSW")
    document, score = vectors.similarity_search_with_score(FILMS[0][0], k=1)[0]
    same((document.page_content, abs(score) < 1e-3), (FILMS[0][0], True))


def filters():
    vectors = store("films-filters")

    def kinds(condition):
        return sorted(each.metadata["year"] for each in vectors.similarity_search("a", k=4, filter=condition))

    same(list(map(float, kinds(Tag("kind") == "science"))), [1968, 1977])
    same(list(map(float, kinds(Num("year") > 1970))), [1977, 2007])
    same(list(map(float, kinds(Text("about") % "space"))), [1968, 1977])
    same(list(map(float, kinds((Tag("kind") == "science") & (Num("year") < 1970)))), [1968])
    same(list(map(float, kinds(Tag("kind") != "science"))), [1941, 2007])


def range_search():
    vectors = store("films-range")
    found = vectors.similarity_search(FILMS[1][0], k=4, distance_threshold=0.0001)
    same([each.page_content for each in found], [FILMS[1][0]])


def varied_results():
    vectors = store("films-varied")
    found = vectors.max_marginal_relevance_search(FILMS[3][0], k=3, fetch_k=4)
    same((len(found), found[0].page_content), (3, FILMS[3][0]))


def documents_by_id():
    vectors = RedisVectorStore.from_documents(
        [Document(page_content=text, metadata=metadata) for text, metadata in FILMS], Letters(),
        config=RedisConfig(index_name="films-ids", redis_url=URL, metadata_schema=METADATA))
    keys = [key for key in redis.Redis(port=PORT, decode_responses=True).scan_iter("films-ids:*")]
    same(len(keys), 4)
    wanted = keys[0].removeprefix("films-ids:")
    same(len(vectors.get_by_ids([wanted])), 1)
    vectors.delete([wanted])
    same(len(vectors.similarity_search("a", k=4)), 3)


def an_existing_index():
    store("films-again")
    vectors = RedisVectorStore.from_existing_index("films-again", Letters(), redis_url=URL)
    same(vectors.similarity_search(FILMS[0][0], k=1)[0].page_content, FILMS[0][0])


def an_index_over_json():
    vectors = store("films-json", storage_type="json")
    same(vectors.similarity_search(FILMS[0][0], k=1)[0].page_content, FILMS[0][0])


def semantic_cache():
    cache = RedisSemanticCache(embeddings=Letters(), redis_url=URL, name="answers", distance_threshold=0.01)
    cache.update("Who wrote Faust?", "model", [Generation(text="Goethe")])
    same(cache.lookup("Who wrote Faust?", "model")[0].text, "Goethe")
    same(cache.lookup("How tall is the tower in that old town?", "model"), None)
    cache.clear()
    same(cache.lookup("Who wrote Faust?", "model"), None)


def exact_cache():
    cache = RedisCache(redis_url=URL)
    cache.update("Who wrote Faust?", "model", [Generation(text="Goethe")])
    same(cache.lookup("Who wrote Faust?", "model")[0].text, "Goethe")


def chat_history():
    history = RedisChatMessageHistory(session_id="one", redis_url=URL)
    history.add_message(HumanMessage(content="Is the library open tomorrow?"))
    history.add_message(AIMessage(content="From nine to five."))
    same([each.content for each in history.messages], ["Is the library open tomorrow?", "From nine to five."])
    same(len(history.search_messages("library")), 1)
    history.clear()
    same(history.messages, [])


run([nearest_texts, distances, euclidean_distance, filters, range_search, varied_results, documents_by_id,
     an_existing_index, an_index_over_json, semantic_cache, exact_cache, chat_history])
