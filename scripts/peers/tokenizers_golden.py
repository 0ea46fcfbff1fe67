"""Tokens and texts of small tokenizers by the Rust library, which a test compares with.

    venv/bin/pip install tokenizers==0.22.2
    venv/bin/python scripts/peers/tokenizers_golden.py > src/model/mended-tokenizer.golden.json
"""

import json

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

BYTES = [(f"<0x{byte:02X}>", -20.0) for byte in range(256)]
PIECES = [("▁", -2.0), ("▁a", -3.0), ("a", -3.0), ("b", -3.0), ("ab", -4.0), ("日", -5.0), ("word", -6.0), ("x", -7.0)]
SPECIALS = [("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0)]


def unigram(vocabulary, byte_fallback):
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=0, byte_fallback=byte_fallback))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens([AddedToken(name, special=True, normalized=False) for name, _ in SPECIALS])
    return tokenizer


def words(normalized):
    tokenizer = unigram([*SPECIALS, *BYTES, *PIECES], True)
    if normalized:
        tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.add_tokens([AddedToken("word", single_word=True, normalized=normalized), AddedToken("<t>", normalized=False)])
    return tokenizer


TOKENIZERS = {
    "bytes": unigram([*SPECIALS, *BYTES, *PIECES], True),
    "some bytes": unigram([*SPECIALS, *BYTES[:0xE0], *PIECES], True),
    "no fallback": unigram([*SPECIALS, *BYTES, *PIECES], False),
    "whole words": words(False),
    "whole words in lower case": words(True),
}
TEXTS = [
    "a b", "日", "日本", "a\tb", "ä", "🙂", "\ufeffa", "a\ufeff", "e\u0301\u200d", "日🙂日", "ab\r\n", "<0xE6>", "</s>a", "\x00",
    "word", "a word b", "words", "sword", "word.", "-word-", "word_", "日word", "wordword", "word word", "Word", "WORD!", "word1", "<t>word", "word<t>",
    "<t>word<t>", "word\u0301", "word\u200d", "(word)", "word</s>word",
]
BYTE_RUNS = [[0xE6, 0x97], [0xE6, 0x97, 0xA5, 0xE6], [0xEF, 0xBB, 0xBF], [0xEF, 0xBB, 0xBF, 0x61], [0xFF, 0x61, 0xFF], [0xF0, 0x9F, 0x99, 0x82]]


def main():
    golden = {}
    for name, tokenizer in TOKENIZERS.items():
        texts = []
        for text in TEXTS:
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            texts.append([text, ids, tokenizer.decode(ids, skip_special_tokens=False)])
        runs = [] if name == "some bytes" else [[3 + byte for byte in run] for run in BYTE_RUNS]
        decoded = [[ids, tokenizer.decode(ids, skip_special_tokens=False)] for ids in runs]
        golden[name] = {"tokenizer": tokenizer.to_str(), "texts": texts, "decoded": decoded}
    # Vocabularies are long lists of the same kind: they go into one line each.
    print("{" + ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in golden.items()) + "}")


if __name__ == "__main__":
    main()
