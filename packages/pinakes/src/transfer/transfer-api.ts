/** Import and export of a workspace's knowledge, for admins. */
import { requireCaller, type Caller } from "../domain/caller.ts";
import { exportKnowledge, type ExportOptions } from "./export.ts";
import type { TransferFile, TransferReader } from "./files.ts";
import { importKnowledge, type ImportOptions, type ImportPieces } from "./import.ts";
import type { ImportReport } from "./report.ts";

export class TransferApi {
  readonly #pieces: ImportPieces;

  constructor(pieces: ImportPieces) {
    this.#pieces = pieces;
  }

  /** Files in the layouts of the source systems, to be read one after the other (export.ts). */
  export(caller: Caller, options?: ExportOptions): AsyncIterable<TransferFile> {
    const { tenant } = requireCaller(caller);
    const { parts, library } = this.#pieces;
    const run = () => exportKnowledge(parts, library, caller, options);
    return parts.places?.exports.stream(tenant, run) ?? run();
  }

  /** Imports such files; the report lists what is wrong by file and line (import.ts). */
  async import(caller: Caller, reader: TransferReader, options?: ImportOptions): Promise<ImportReport> {
    return importKnowledge(this.#pieces, caller, reader, options);
  }
}
