/** Checks an export with nothing but public keys: no store, no server. */
import { entryLine, headerLines, readEntryLine, readHeader, type ExportHeader } from "./export-format.ts";
import { CompactRange, leafHash, subtrees } from "./merkle.ts";
import {
  exactBase64,
  isSignedBy,
  readCheckpoint,
  readNote,
  verifierOf,
  type Checkpoint,
  type Verifier,
} from "./signed-note.ts";

export interface VerifyOptions {
  /** Public keys that are trusted; without any, those of the export are used, and the report says so. */
  readonly keys?: readonly string[] | undefined;
  /** An earlier checkpoint of the same log, as a signed note: the export must continue it. */
  readonly since?: string | undefined;
}

export interface VerifiedExport {
  readonly origin: string;
  /** Size of the signed tree. */
  readonly size: number;
  readonly first: number;
  readonly end: number;
  readonly keys: readonly string[];
  /** Whether a trusted key signed it. */
  readonly trusted: boolean;
}

export type Verification =
  | { readonly ok: true; readonly export: VerifiedExport }
  /** `entry`: the invalid entry; null if it is another line. `line`: from 1. */
  | { readonly ok: false; readonly entry: number | null; readonly line: number; readonly reason: string };

class Refused extends Error {
  readonly entry: number | null;

  constructor(reason: string, entry: number | null = null) {
    super(reason);
    this.entry = entry;
  }
}

export async function verifyExport(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: VerifyOptions = {},
): Promise<Verification> {
  let line = 0;
  try {
    let check: ExportCheck | undefined;
    for await (const text of linesOf(content)) {
      line += 1;
      if (check === undefined) check = new ExportCheck(text, options);
      else check.take(text);
    }
    line += 1;
    if (check === undefined) throw new Refused("The file is empty.");
    return { ok: true, export: check.finish() };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ok: false, entry: error.entry, line: Math.max(1, line), reason: error.message };
  }
}

class ExportCheck {
  readonly #header: ExportHeader;
  readonly #format: "ndjson" | "csv";
  readonly #checkpoint: Checkpoint;
  readonly #trusted: boolean;
  readonly #since: Checkpoint | undefined;
  readonly #range: CompactRange;
  #columns: string | undefined;

  constructor(line: string, { keys, since }: VerifyOptions) {
    const read = readHeader(line);
    if (read === undefined) throw new Refused("The first line is not that of an export, or was changed.");
    this.#header = read.header;
    this.#format = read.format;
    this.#columns = headerLines(read.header, read.format)[1];
    const own = read.header.keys.map((key) => requireKey(key, "The first line names a key that is none."));
    this.#checkpoint = requireSigned(read.header.checkpoint, own);
    const trusted = keys?.map((key) => requireKey(key, `"${key}" is not a public key (name+hash+key).`));
    if (trusted !== undefined && !read.header.keys.some((key) => keys?.includes(key)))
      throw new Refused("The checkpoint is not signed by a key that is trusted here.");
    this.#trusted = trusted !== undefined;
    this.#since = since === undefined ? undefined : this.#requireSince(since, trusted ?? own);
    const { first, end, left } = read.header;
    if (first > end || end > this.#checkpoint.size)
      throw new Refused("The first line names entries that the checkpoint does not have.");
    this.#range = leftOf(first, left);
    this.#compareSince();
  }

  take(line: string): void {
    if (this.#columns !== undefined) {
      if (line !== this.#columns) throw new Refused("The line of column names was changed.");
      this.#columns = undefined;
      return;
    }
    const expected = this.#range.end;
    if (expected >= this.#header.end) throw new Refused("There are more lines than entries.", expected);
    const read = readEntryLine(line, this.#format);
    if (read === undefined) throw new Refused(`Entry ${expected} cannot be read: its line was changed.`, expected);
    if (read.index !== expected)
      throw new Refused(
        `Entry ${expected} is missing, or out of order: entry ${read.index} is in its place.`,
        expected,
      );
    if (!isAsWritten(line, read.index, read.leaf, this.#format))
      throw new Refused(`Entry ${expected} was changed: it does not match its hash.`, expected);
    this.#range.push(0, leafHash(Buffer.from(read.leaf)));
    this.#compareSince();
  }

  finish(): VerifiedExport {
    const { first, end, right, keys } = this.#header;
    const { origin, size, root } = this.#checkpoint;
    if (this.#columns !== undefined || this.#range.end !== end)
      throw new Refused(
        `The export ends before entry ${this.#range.end}; it should have entries up to ${end - 1}.`,
        this.#range.end,
      );
    const rest = nodesOf(end, size, right);
    for (const [level, hash] of rest) this.#range.push(level, hash);
    if (!this.#range.root().equals(root))
      throw new Refused("The entries are not those that were signed: they give another root than the checkpoint.");
    return { origin, size, first, end, keys, trusted: this.#trusted };
  }

  #requireSince(note: string, keys: readonly Verifier[]): Checkpoint {
    const read = readNote(note);
    const since = read === undefined ? undefined : readCheckpoint(read.text);
    if (read === undefined || since === undefined || !keys.some((key) => isSignedBy(read, key)))
      throw new Refused("The earlier checkpoint is not signed by a key that is trusted here.");
    if (since.origin !== this.#checkpoint.origin)
      throw new Refused(
        `The earlier checkpoint is of another log (${since.origin}); the export is of ${this.#checkpoint.origin}.`,
      );
    if (since.size > this.#checkpoint.size)
      throw new Refused(
        `The log had ${since.size} entries at the earlier checkpoint and has ${this.#checkpoint.size} now: it was shortened.`,
      );
    if (since.size < this.#header.first || since.size > this.#header.end)
      throw new Refused(
        `The earlier checkpoint (${since.size} entries) can only be compared with an export that contains its end.`,
      );
    return since;
  }

  #compareSince(): void {
    const since = this.#since;
    if (since === undefined || since.size !== this.#range.end || since.size === 0) return;
    if (!this.#range.root().equals(since.root))
      throw new Refused(
        `The first ${since.size} entries are not those of the earlier checkpoint: history was edited.`,
        since.size - 1,
      );
  }
}

function isAsWritten(line: string, index: number, leaf: string, format: "ndjson" | "csv"): boolean {
  try {
    return entryLine(index, leaf, format) === line;
  } catch {
    // In CSV the columns come from the entry, which must be readable for that.
    return false;
  }
}

function leftOf(first: number, hashes: readonly string[]): CompactRange {
  const range = new CompactRange();
  for (const [level, hash] of nodesOf(0, first, hashes)) range.push(level, hash);
  return range;
}

function nodesOf(first: number, end: number, hashes: readonly string[]): readonly (readonly [number, Buffer])[] {
  const parts = subtrees(first, end);
  const bytes = hashes.map((hash) => exactBase64(hash));
  if (parts.length !== bytes.length) throw new Refused("The first line has the wrong number of hashes.");
  return parts.map(({ level }, i) => {
    const hash = bytes[i];
    if (hash?.length !== 32) throw new Refused("The first line has a hash that is none.");
    return [level, hash] as const;
  });
}

function requireKey(text: string, reason: string): Verifier {
  const key = verifierOf(text);
  if (key === undefined) throw new Refused(reason);
  return key;
}

/** The checkpoint of a note that exactly these keys have signed. */
function requireSigned(text: string, keys: readonly Verifier[]): Checkpoint {
  const note = readNote(text);
  const checkpoint = note === undefined ? undefined : readCheckpoint(note.text);
  if (note === undefined || checkpoint === undefined)
    throw new Refused("The checkpoint cannot be read: it was changed.");
  if (note.signatures.length !== keys.length || !keys.every((key) => isSignedBy(note, key)))
    throw new Refused("The signature of the checkpoint is wrong: it was changed, or another key signed it.");
  return checkpoint;
}

/** Lines as exact text: each ends with a line feed, and is UTF-8. */
async function* linesOf(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  // Invalid UTF-8 cannot be one of our lines.
  const decode = (bytes: Uint8Array): string => {
    try {
      return decoder.decode(bytes);
    } catch {
      return "";
    }
  };
  let rest: Uint8Array[] = [];
  for await (const chunk of content) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      yield decode(Buffer.concat([...rest, chunk.subarray(from, at)]));
      rest = [];
      from = at + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
  if (rest.length > 0) throw new Refused("The file was cut off: its last line does not end.");
}
