/** A named piece of a segment file. */
export interface Section {
  readonly name: string;
  readonly bytes: Uint8Array;
}
