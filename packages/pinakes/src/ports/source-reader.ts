/**
 * SourceReader: files in an external source, which a pipeline keeps a collection in sync with. Read-only.
 *
 * Completeness. `list` returns every file, or throws: a part that cannot be read is an error, never a gap, because what is missing from a
 * list may be removed from the collection. A missing source (an unmounted folder) is an error too.
 *
 * Absence. `stat` returns undefined only when the source itself exists and the file does not.
 *
 * Change. The etag changes whenever the content does. `open` returns the current content, which may be newer than the list.
 *
 * Confinement. Nothing outside the source is ever read, whatever a name or a link says.
 */
export interface SourceReader {
  /** Throws if the source cannot be read at all. */
  check(signal?: AbortSignal): Promise<void>;
  list(signal?: AbortSignal): AsyncIterable<SourceEntry>;
  stat(uri: string, signal?: AbortSignal): Promise<SourceEntry | undefined>;
  open(uri: string, signal?: AbortSignal): AsyncIterable<Uint8Array>;
}

export interface SourceFile {
  /** Its full address, which identifies a document. */
  readonly uri: string;
  /** The last segment of the address. */
  readonly name: string;
  readonly bytes: number;
  readonly etag: string;
  /** The address of the file that says who may see this one, if there is one. */
  readonly sidecar?: string;
}

/** An entry that exists and is skipped: a link that leads out, a hidden file. */
export interface SourceProblem {
  readonly uri: string;
  readonly reason: string;
}

export type SourceEntry = SourceFile | SourceProblem;

/** Messages of a store that announce changed files. Each is delivered again until it is `done`. */
export interface SourceEvents {
  /** Waits for messages, for a few seconds at most; empty if there are none or the signal ended the wait. */
  receive(signal: AbortSignal): Promise<readonly SourceMessage[]>;
  close(): Promise<void>;
}

export interface SourceMessage {
  readonly body: string;
  done(): Promise<void>;
  /** Still being processed: hidden from other receivers for this long. */
  extend(ms: number): Promise<void>;
}
