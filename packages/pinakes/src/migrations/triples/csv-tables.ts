/** Tables of triples as CSV files, one per table: the output of `cqlsh COPY … TO` from Cassandra. */
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "csv-parse";
import { PinakesError, invalid } from "../../domain/errors.ts";
import { migrationLimits } from "../limits.ts";
import { StagedTables, type TableLoader } from "./staged-tables.ts";

export class CsvTables extends StagedTables {
  async tables(): Promise<readonly string[]> {
    const names = await readdir(this.location).catch((error: unknown) => {
      throw new PinakesError("NOT_FOUND", `${this.location}: is not a readable folder: ${(error as Error).message}.`, {
        cause: error,
      });
    });
    const found = names.filter((name) => name.endsWith(".csv")).map((name) => name.slice(0, -4));
    if (found.length === 0) throw invalid(`${this.location}: has no file that ends in .csv.`);
    return found.toSorted();
  }

  protected nameOf(table: string): string {
    return `${this.location}/${table}.csv`;
  }

  protected async read(table: string, loader: TableLoader): Promise<void> {
    if (this.spec.csv_columns !== undefined) loader.setColumns(this.spec.csv_columns);
    for await (const record of this.#records(table)) {
      loader.at += 1;
      requireShort(record, `${this.nameOf(table)} row ${loader.at}`);
      if (loader.columns === undefined) loader.setColumns(record);
      else loader.row(record);
    }
  }

  async *#records(table: string): AsyncGenerator<string[]> {
    const parser = parse({
      bom: true,
      escape: this.spec.csv_escape ?? "\\",
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: migrationLimits.lineCharsMax,
    });
    const file = createReadStream(join(this.location, `${table}.csv`), { highWaterMark: 1_048_576 });
    file.on("error", (error) => parser.destroy(error));
    yield* file.pipe(parser) as AsyncIterable<string[]>;
  }
}

/** The parser's own limit bounds its memory, but is not exact. */
function requireShort(record: readonly string[], where: string): void {
  if (record.reduce((chars, cell) => chars + cell.length, 0) <= migrationLimits.lineCharsMax) return;
  throw new PinakesError(
    "LIMIT_EXCEEDED",
    `${where}: has more than ${migrationLimits.lineCharsMax} characters; leave the row out, or shorten it.`,
  );
}
