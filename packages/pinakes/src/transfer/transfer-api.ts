/** Import and export of a workspace's knowledge, for admins. */
import { requireCaller, type Caller } from "../domain/caller.ts";
import { exportKnowledge, type ExportOptions } from "./export.ts";
import type { TransferFile, TransferReader } from "./files.ts";
import { importKnowledge, type ImportOptions, type ImportDependencies } from "./import.ts";
import type { ImportReport } from "./report.ts";

export class TransferApi {
  readonly #services: ImportDependencies;

  constructor(services: ImportDependencies) {
    this.#services = services;
  }

  /** Files in the layouts of the reference systems, to be consumed one after the other (export.ts). */
  export(caller: Caller, options?: ExportOptions): AsyncIterable<TransferFile> {
    const { tenant } = requireCaller(caller);
    const { deps, catalog } = this.#services;
    const run = () => exportKnowledge(deps, catalog, caller, options);
    return deps.places?.exports.stream(tenant, run) ?? run();
  }

  /** Imports such files; the report lists errors by file and line (import.ts). */
  async import(caller: Caller, reader: TransferReader, options?: ImportOptions): Promise<ImportReport> {
    return importKnowledge(this.#services, caller, reader, options);
  }
}
