/**
 * SourceReader: files that belong to somebody else, which a pipeline keeps a collection in step with. Only ever read.
 *
 * Completeness. `list` gives every file there is, or throws: a part that cannot be read is an error, never a gap, because what is
 * missing from a list may be removed from the collection. So is a source that is not there at all (an unmounted folder).
 *
 * Absence. `stat` answers undefined only when the source itself is there and the file is not.
 *
 * Change. The etag is another one whenever the content is. `open` gives the content as it is then, which may be newer than the list.
 *
 * Borders. Nothing outside the source is ever read, whatever a name or a link says.
 */
export interface SourceReader {
  /** Throws when the source cannot be read at all. */
  check(signal?: AbortSignal): Promise<void>;
  list(signal?: AbortSignal): AsyncIterable<SourceEntry>;
  stat(uri: string, signal?: AbortSignal): Promise<SourceEntry | undefined>;
  open(uri: string, signal?: AbortSignal): AsyncIterable<Uint8Array>;
}

export interface SourceFile {
  /** Its whole address: what a document is known by. */
  readonly uri: string;
  /** The last part of the address. */
  readonly name: string;
  readonly bytes: number;
  readonly etag: string;
}

/** Something that is there and is not taken: a link that leads out, a hidden file. */
export interface SourceProblem {
  readonly uri: string;
  readonly reason: string;
}

export type SourceEntry = SourceFile | SourceProblem;

/** Messages of a store that tell which of its files changed. Each is delivered again until it is `done`. */
export interface SourceEvents {
  /** Waits for some, for seconds at the most; empty when there are none or the signal ended the wait. */
  receive(signal: AbortSignal): Promise<readonly SourceMessage[]>;
  close(): Promise<void>;
}

export interface SourceMessage {
  readonly body: string;
  done(): Promise<void>;
  /** Still being worked on: nobody else gets it for so long. */
  extend(ms: number): Promise<void>;
}
