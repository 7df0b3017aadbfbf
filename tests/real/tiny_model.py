"""Writes a language model so small that its answers can be told in advance.

It is a real GGUF file with the architecture of Llama, but nothing in it mixes tokens: attention
and feed-forward write nothing, so the next token depends on the last one alone. Each token that
is to be followed has a dimension of its own, and the token that follows it listens to that
dimension. What a question ends with decides on the answer, on every machine, at any temperature.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import gguf
import numpy as np

SPACE = "\u2581"
END = "</s>"
ANSWERS = ("open at nine", "closed on Sunday", "book three weeks", "cost nothing")
"""The first word ends a question, the others answer it."""
OTHERWISE = "sorry"
NUMBER = (":", "1")
"""What a value in JSON begins with, where it may be a number."""
WIDTH, LAYERS, HEADS, CONTEXT = 32, 1, 2, 8192
LOUD = 10.0
TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"


def vocabulary() -> dict[str, gguf.TokenType]:
    """Control tokens, bytes, letters, and the words with the beginnings they are joined from."""
    tokens = {
        "<unk>": gguf.TokenType.UNKNOWN,
        "<s>": gguf.TokenType.CONTROL,
        END: gguf.TokenType.CONTROL,
    }
    tokens |= {f"<0x{byte:02X}>": gguf.TokenType.BYTE for byte in range(256)}
    pieces = [SPACE, *(chr(code) for code in range(33, 127))]
    for word in (*" ".join(ANSWERS).split(), OTHERWISE):
        pieces += [SPACE + word[:size] for size in range(1, len(word) + 1)]
    return tokens | dict.fromkeys(pieces, gguf.TokenType.NORMAL)


def successors() -> dict[str, str]:
    """Which token follows which."""
    before, number = NUMBER
    follows: dict[str, str] = {SPACE + OTHERWISE: END, before: number}
    for answer in ANSWERS:
        tokens = [*(SPACE + word for word in answer.split()), END]
        follows |= dict(pairwise(tokens))
    return follows


def embeddings(tokens: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Input and output matrices; dimension 0 is for every token that nothing is known about."""
    inputs = np.zeros((len(tokens), WIDTH), np.float32)
    outputs = np.zeros((len(tokens), WIDTH), np.float32)
    inputs[:, 0] = 1.0
    outputs[tokens.index(SPACE + OTHERWISE), 0] = LOUD
    for dimension, (token, follower) in enumerate(successors().items(), start=1):
        inputs[tokens.index(token)] = np.eye(WIDTH, dtype=np.float32)[dimension]
        outputs[tokens.index(follower), dimension] = LOUD
        if follower == END:
            # Where a schema does not let it end, it closes the string that it is in.
            outputs[tokens.index('"'), dimension] = LOUD / 2
    return inputs, outputs


def write_model(path: Path) -> None:
    """Write the file, the same bytes every time."""
    tokens = vocabulary()
    names = list(tokens)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("tiny-desk")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(names))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([name.encode("utf-8") for name in names])
    # Longer pieces score higher, so that a word is joined as far as it goes.
    writer.add_token_scores([float(len(name)) for name in names])
    writer.add_token_types(list(tokens.values()))
    writer.add_unk_token_id(names.index("<unk>"))
    writer.add_bos_token_id(names.index("<s>"))
    writer.add_eos_token_id(names.index(END))
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, tensor in tensors(names).items():
        writer.add_tensor(f"{name}.weight", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def tensors(tokens: list[str]) -> dict[str, np.ndarray]:
    """Every weight of the model; the layers only pass on what they get."""
    inputs, outputs = embeddings(tokens)
    ones, silent = np.ones(WIDTH, np.float32), np.zeros((WIDTH, WIDTH), np.float32)
    made = {"token_embd": inputs, "output_norm": ones, "output": outputs}
    for layer in range(LAYERS):
        made |= {f"blk.{layer}.{name}": ones for name in ("attn_norm", "ffn_norm")}
        parts = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
        made |= {f"blk.{layer}.{name}": silent for name in parts}
    return made


if __name__ == "__main__":
    write_model(Path(sys.argv[1]))
