/** 53 bits of a hash of an id: what files are joined and searched by. Ids with the same hash are distinguished by comparing them. */
export function idHash(utf8: Uint8Array): number {
  let a = 0xdeadbeef ^ utf8.length;
  let b = 0x41c6ce57 ^ utf8.length;
  for (let i = 0; i < utf8.length; i += 1) {
    const byte = utf8[i] as number;
    a = Math.imul(a ^ byte, 0x9e3779b1);
    b = Math.imul(b ^ byte, 0x5f356495);
    a = (a << 13) | (a >>> 19);
    b = (b << 15) | (b >>> 17);
  }
  a = finish(a ^ (b >>> 7));
  b = finish(b ^ (a >>> 9));
  return (a >>> 0) * 0x200000 + (b >>> 11);
}

/** murmur3's finaliser: every bit of the input affects every bit of the output. */
function finish(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
