/** The files of an export or import: paths with "/", independent of where they are stored. */
export interface TransferFile {
  /** An object key: parts joined by "/". */
  readonly path: string;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface TransferReader {
  /** All of them, in any order. */
  paths(): AsyncIterable<string>;
  /** Opens a path from `paths`. May be called several times. */
  open(path: string): AsyncIterable<Uint8Array>;
}
