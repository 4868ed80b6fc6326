"""CRC-32C (Castagnoli), which the standard library does not have."""
try:
    import numpy
except ImportError:
    numpy = None

TABLE = list(range(256))
for _ in range(8):
    TABLE = [c >> 1 ^ (0x82F63B78 if c & 1 else 0) for c in TABLE]

FEW = 1 << 12  # bytes for which NumPy does not pay


def crc32c(data):
    """The CRC-32C of bytes."""
    if numpy is not None and len(data) >= FEW:
        return _folded(data)
    crc, table = 0xFFFFFFFF, TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


_shifts = []  # for 1, 2, 4, ... bytes: four tables that tell what as many zeros make of a CRC


def _shift(level):
    """The tables for 2**level zeros: a CRC is linear, so its four bytes go on their own."""
    while len(_shifts) <= level:
        if not _shifts:
            byte = numpy.arange(256, dtype=numpy.uint32)
            table = numpy.array(TABLE, numpy.uint32)
            _shifts.append([table] + [byte << 8 * i for i in range(3)])
            continue
        last = _shifts[-1]
        _shifts.append([_apply(last, t) for t in last])
    return _shifts[level]


def _apply(tables, crc):
    out = tables[0][crc & 255]
    for i in (1, 2, 3):
        out = out ^ tables[i][crc >> 8 * i & 255]
    return out


def _folded(data):
    """Joins the CRCs of single bytes to those of two, four, ... bytes."""
    size = 1 << (len(data) - 1).bit_length()
    padded = numpy.zeros(size, numpy.uint8)  # zeros in front change nothing
    padded[size - len(data):] = numpy.frombuffer(data, numpy.uint8)
    padded[size - len(data):][:4] ^= 255  # the start value
    crc = numpy.array(TABLE, numpy.uint32)[padded]
    level = 0
    while len(crc) > 1:
        crc = _apply(_shift(level), crc[::2]) ^ crc[1::2]
        level += 1
    return int(crc[0]) ^ 0xFFFFFFFF
