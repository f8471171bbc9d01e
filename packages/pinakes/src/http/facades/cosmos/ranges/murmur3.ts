/** MurmurHash3 (Austin Appleby, public domain), seed 0: 32 bits for keys of version 1, 128 bits (x64) for those of version 2. */
const mask64 = (1n << 64n) - 1n;

export function murmur32(bytes: Uint8Array): number {
  let h = 0;
  const blocks = bytes.length - (bytes.length % 4);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < blocks; at += 4) {
    h ^= scramble32(view.getUint32(at, true));
    h = (Math.imul(rotate32(h, 13), 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let at = bytes.length - 1; at >= blocks; at -= 1) tail = (tail << 8) | (bytes[at] as number);
  if (bytes.length > blocks) h ^= scramble32(tail);
  h ^= bytes.length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function scramble32(block: number): number {
  return Math.imul(rotate32(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
}

function rotate32(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

const c1 = 0x87c37b91114253d5n;
const c2 = 0x4cf5ad432745937fn;

/** Both halves, the first one first. */
export function murmur128(bytes: Uint8Array): readonly [bigint, bigint] {
  let [h1, h2] = [0n, 0n];
  const blocks = bytes.length - (bytes.length % 16);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < blocks; at += 16) {
    h1 ^= first(view.getBigUint64(at, true));
    h1 = times(rotate64(h1, 27n) + h2, 5n, 0x52dce729n);
    h2 ^= second(view.getBigUint64(at + 8, true));
    h2 = times(rotate64(h2, 31n) + h1, 5n, 0x38495ab5n);
  }
  const tail = bytes.subarray(blocks);
  if (tail.length > 8) h2 ^= second(littleEndian(tail.subarray(8)));
  if (tail.length > 0) h1 ^= first(littleEndian(tail.subarray(0, 8)));
  h1 ^= BigInt(bytes.length);
  h2 ^= BigInt(bytes.length);
  h1 = (h1 + h2) & mask64;
  h2 = (h2 + h1) & mask64;
  h1 = finish(h1);
  h2 = finish(h2);
  h1 = (h1 + h2) & mask64;
  h2 = (h2 + h1) & mask64;
  return [h1, h2];
}

function first(block: bigint): bigint {
  return (rotate64((block * c1) & mask64, 31n) * c2) & mask64;
}

function second(block: bigint): bigint {
  return (rotate64((block * c2) & mask64, 33n) * c1) & mask64;
}

function times(value: bigint, factor: bigint, added: bigint): bigint {
  return ((value & mask64) * factor + added) & mask64;
}

function rotate64(value: bigint, bits: bigint): bigint {
  return ((value << bits) | (value >> (64n - bits))) & mask64;
}

function finish(value: bigint): bigint {
  let h = ((value ^ (value >> 33n)) * 0xff51afd7ed558ccdn) & mask64;
  h = ((h ^ (h >> 33n)) * 0xc4ceb9fe1a85ec53n) & mask64;
  return h ^ (h >> 33n);
}

function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}
