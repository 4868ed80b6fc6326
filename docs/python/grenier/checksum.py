"""CRC-32C (Castagnoli), which the standard library does not have."""
from typing import Iterable, List, Union

Bytes = Union[bytes, bytearray, memoryview]

TABLE: List[int] = list(range(256))
for _ in range(8):
    TABLE = [c >> 1 ^ (0x82F63B78 if c & 1 else 0) for c in TABLE]

# Modulo the polynomial, x to the first power is the sum of x to the others: what is far in front goes
# to a few places further back by shifts of a whole number. All powers may be multiplied by 2, 4, 8, ...
RELATIONS = (6777, (484, 100, 0)), (290, (136, 113, 107, 32, 0))
FEW = 1000  # bits for which that does not pay


def _folded(data: Bytes, start: int) -> bytes:
    """Few bytes that have the remainder of data."""
    bits, value = 8 * len(data), int.from_bytes(data, "little") ^ start  # bit 0 has the highest power
    for power, others in RELATIONS:
        scale = 1 << max(bits // power, 1).bit_length() - 1
        while scale:
            while bits > power * scale:
                step = min(bits - power * scale, (power - others[0]) * scale)
                front, back = value & (1 << step) - 1, 0
                for other in others:
                    back ^= front << (others[0] - other) * scale
                value = value >> step ^ back << (power - others[0]) * scale - step
                bits -= step
            scale >>= 1
    size = -(-bits // 8)
    return (value << 8 * size - bits).to_bytes(size, "little")


def remainder(data: Bytes, start: int = 0) -> int:
    """The remainder of bytes. The bits of start are added to the first ones."""
    crc, table = start, TABLE
    if 8 * len(data) > FEW:
        crc, data = 0, _folded(data, start)
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def crc32c(data: Bytes) -> int:
    """The CRC-32C of bytes."""
    return remainder(data, 0xFFFFFFFF) ^ 0xFFFFFFFF


def crcs(all: Iterable[Bytes]) -> List[int]:
    """The CRC-32C of each of many pieces."""
    return [crc32c(data) for data in all]
