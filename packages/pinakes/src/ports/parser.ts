/**
 * Parser: the bytes of a file to text that can be cited.
 *
 * Text. NFC is not forced: the text is the document's own, with line ends as \n and without NUL. Offsets are UTF-16 code units of it.
 *
 * Safety. Runs away from the main thread, within a memory limit and a time limit that grows with the size of the file, and never opens a
 * network connection or a file.
 *
 * Errors. INVALID with a readable reason: what is wrong with this file, and what to do. Never a stack trace.
 */
import type { FileType } from "../domain/file-type.ts";

export interface Parser {
  parse(input: ParseInput, options?: ParseOptions): Promise<ParsedText>;
  close(): Promise<void>;
}

export interface ParseOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whose file it is, usually a workspace's id: owners are served round-robin. */
  readonly share?: string | undefined;
}

export { fileTypes, type FileType } from "../domain/file-type.ts";

export interface ParseInput {
  readonly bytes: Uint8Array;
  /** By the file's name; bytes that are clearly of another type are rejected. */
  readonly fileType: FileType;
}

export interface ParsedText {
  readonly text: string;
  /** Where each page begins, from 1. Only for types that have pages. */
  readonly pages: readonly { readonly start: number; readonly page: number }[];
  /** Where each heading begins, with the path of headings down to it. */
  readonly sections: readonly { readonly start: number; readonly path: readonly string[] }[];
  /** Where each record of a table begins, from 1 (the header has none). */
  readonly rows: readonly { readonly start: number; readonly row: number }[];
  /** Warnings for the reader: "3 pages have no text (scanned images?)". */
  readonly warnings: readonly string[];
}
