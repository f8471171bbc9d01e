/** What an export makes and an import reads: files under paths with "/", wherever they lie. */
export interface TransferFile {
  /** As the key of an object: parts joined by "/". */
  readonly path: string;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface TransferReader {
  /** All of them, in any order. */
  paths(): AsyncIterable<string>;
  /** One of those that `paths` gave. May be called several times. */
  open(path: string): AsyncIterable<Uint8Array>;
}
