/**
 * Reads the one thing that Chroma pickles: a dictionary, or an object that is nothing but its dictionary. Nothing is ever imported, called
 * or constructed: any such operation is rejected, except naming Chroma's own class, which stays a name. So a hostile file is at worst
 * rejected.
 */
import { PinakesError, show } from "../../domain/errors.ts";

export type PickleValue = string | number | boolean | null | PickleDict | KnownClass | readonly [];
export type PickleDict = Map<PickleValue, PickleValue>;

const knownModule = "chromadb.segment.impl.vector.local_persistent_hnsw";
const knownName = "PersistentData";
/** The result of naming that class. */
interface KnownClass {
  readonly known: true;
}
const knownClass: KnownClass = Object.freeze({ known: true });
interface Mark {
  readonly mark: true;
}
const mark: Mark = Object.freeze({ mark: true });
type Entry = PickleValue | Mark;

export function readPickle(bytes: Uint8Array, name: string): PickleDict {
  const result = new PickleReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), name).read();
  if (result instanceof Map) return result;
  throw unreadable(name, "it does not hold a dictionary");
}

class PickleReader {
  readonly #bytes: Buffer;
  readonly #name: string;
  readonly #stack: Entry[] = [];
  readonly #memo = new Map<number, PickleValue>();
  #at = 0;

  constructor(bytes: Buffer, name: string) {
    this.#bytes = bytes;
    this.#name = name;
  }

  read(): PickleValue {
    for (;;) {
      const at = this.#at;
      const code = this.#take(1)[0] as number;
      if (code === 0x2e) return this.#pop(); // STOP
      const value = this.#constant(code);
      if (value !== undefined) this.#stack.push(value);
      else if (!this.#operation(code))
        throw this.#refused(`operation 0x${code.toString(16)} at byte ${at} is not one of those Chroma writes`);
    }
  }

  /** What pushes one plain value onto the stack. */
  #constant(code: number): PickleValue | undefined {
    switch (code) {
      case 0x4e: // NONE
        return null;
      case 0x88: // NEWTRUE
        return true;
      case 0x89: // NEWFALSE
        return false;
      case 0x4a: // BININT
        return this.#take(4).readInt32LE();
      case 0x4b: // BININT1
        return this.#take(1).readUInt8();
      case 0x4d: // BININT2
        return this.#take(2).readUInt16LE();
      case 0x8a: // LONG1
        return this.#long(this.#take(1).readUInt8());
      case 0x58: // BINUNICODE
        return this.#text(this.#take(4).readUInt32LE());
      case 0x8c: // SHORT_BINUNICODE
        return this.#text(this.#take(1).readUInt8());
      case 0x7d: // EMPTY_DICT
        return new Map();
      case 0x29: // EMPTY_TUPLE
        return [];
      case 0x68: // BINGET
        return this.#recall(this.#take(1).readUInt8());
      case 0x6a: // LONG_BINGET
        return this.#recall(this.#take(4).readUInt32LE());
      default:
        return undefined;
    }
  }

  #operation(code: number): boolean {
    switch (code) {
      case 0x80: // PROTO
        this.#take(1);
        return true;
      case 0x95: // FRAME
        this.#take(8);
        return true;
      case 0x28: // MARK
        this.#stack.push(mark);
        return true;
      case 0x71: // BINPUT
        this.#memo.set(this.#take(1).readUInt8(), this.#top());
        return true;
      case 0x72: // LONG_BINPUT
        this.#memo.set(this.#take(4).readUInt32LE(), this.#top());
        return true;
      case 0x94: // MEMOIZE
        this.#memo.set(this.#memo.size, this.#top());
        return true;
      case 0x73: // SETITEM
        this.#setItems(this.#popPair());
        return true;
      case 0x75: // SETITEMS
        this.#setItems(this.#popToMark());
        return true;
      default:
        return this.#objectOperation(code);
    }
  }

  /** An object becomes the dictionary of its fields; its class is only compared by name. */
  #objectOperation(code: number): boolean {
    switch (code) {
      case 0x63: // GLOBAL
        this.#class(this.#line(), this.#line());
        return true;
      case 0x93: {
        // STACK_GLOBAL
        const name = this.#pop();
        this.#class(this.#pop(), name);
        return true;
      }
      case 0x81: // NEWOBJ
        if (!Array.isArray(this.#pop()) || this.#pop() !== knownClass)
          throw this.#refused("it constructs an object of something else than a class");
        this.#stack.push(new Map());
        return true;
      case 0x62: {
        // BUILD
        const fields = this.#pop();
        const target = this.#top();
        if (!(fields instanceof Map) || !(target instanceof Map))
          throw this.#refused("an object's fields are not a dictionary");
        for (const [key, value] of fields) target.set(key, value);
        return true;
      }
      default:
        return false;
    }
  }

  #class(module: PickleValue, name: PickleValue): void {
    if (module !== knownModule || name !== knownName)
      throw this.#refused(`it names ${show([module, name])}, which is not Chroma's`);
    this.#stack.push(knownClass);
  }

  #setItems(items: readonly PickleValue[]): void {
    const dict = this.#top();
    if (!(dict instanceof Map) || items.length % 2 !== 0) throw this.#refused("entries without a dictionary");
    for (let i = 0; i < items.length; i += 2) dict.set(items[i] as PickleValue, items[i + 1] as PickleValue);
  }

  #popToMark(): PickleValue[] {
    const from = this.#stack.lastIndexOf(mark);
    if (from === -1) throw this.#refused("a mark is missing");
    return this.#stack.splice(from).slice(1) as PickleValue[];
  }

  #popPair(): [PickleValue, PickleValue] {
    const value = this.#pop();
    return [this.#pop(), value];
  }

  #pop(): PickleValue {
    const value = this.#top();
    this.#stack.pop();
    return value;
  }

  #top(): PickleValue {
    const value = this.#stack.at(-1);
    if (value === undefined || isMark(value)) throw this.#refused("a value is missing");
    return value;
  }

  #recall(index: number): PickleValue {
    const value = this.#memo.get(index);
    if (value === undefined) throw this.#refused("it reads a memo that was never written");
    return value;
  }

  #long(bytes: number): number {
    let value = 0n;
    const digits = this.#take(bytes);
    for (let i = bytes - 1; i >= 0; i -= 1) value = (value << 8n) | BigInt(digits[i] as number);
    const number = Number(bytes === 0 ? 0n : BigInt.asIntN(bytes * 8, value));
    if (!Number.isSafeInteger(number)) throw this.#refused("a number is too large");
    return number;
  }

  #text(bytes: number): string {
    return this.#take(bytes).toString("utf8");
  }

  #line(): string {
    const end = this.#bytes.indexOf(0x0a, this.#at);
    if (end === -1) throw this.#refused("it ends too early");
    const line = this.#bytes.toString("utf8", this.#at, end);
    this.#at = end + 1;
    return line;
  }

  #take(bytes: number): Buffer {
    if (this.#at + bytes > this.#bytes.length) throw this.#refused("it ends too early");
    this.#at += bytes;
    return this.#bytes.subarray(this.#at - bytes, this.#at);
  }

  #refused(why: string): PinakesError {
    return unreadable(this.#name, why);
  }
}

function isMark(entry: Entry): entry is Mark {
  return entry === mark;
}

function unreadable(name: string, why: string): PinakesError {
  return new PinakesError(
    "CORRUPT",
    `${name}: cannot be read as the labels of a Chroma index: ${why}. Upload the directory again, or convert it to NDJSON.`,
  );
}
