/** Typed arrays that grow by doubling: sections are written sequentially without knowing their size. */
export class ByteWriter {
  length = 0;
  #bytes = new Uint8Array(1_024);

  add(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** LEB128: seven bits per byte, low bits first, the top bit set on all but the last. */
  varint(value: number): void {
    this.#reserve(5);
    let rest = value;
    while (rest > 127) {
      this.#bytes[this.length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.#bytes[this.length++] = rest;
  }

  done(): Uint8Array {
    return this.#bytes.slice(0, this.length);
  }

  #reserve(count: number): void {
    if (this.length + count <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + count));
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
  }
}

export class U32Writer {
  length = 0;
  values = new Uint32Array(256);

  add(value: number): void {
    if (this.length === this.values.length) this.#grow(this.length + 1);
    this.values[this.length++] = value;
  }

  addAll(values: Uint32Array): void {
    if (this.length + values.length > this.values.length) this.#grow(this.length + values.length);
    this.values.set(values, this.length);
    this.length += values.length;
  }

  /** The bytes of the values, in a buffer of their own. */
  done(): Uint8Array {
    return new Uint8Array(this.values.slice(0, this.length).buffer);
  }

  #grow(needed: number): void {
    const grown = new Uint32Array(Math.max(this.values.length * 2, needed));
    grown.set(this.values.subarray(0, this.length));
    this.values = grown;
  }
}
