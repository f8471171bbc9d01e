/** What the parts of the library share: reading, listing and removing records of one owner. */
import type { Caller } from "../../domain/caller.ts";
import { requireCaller } from "../../domain/caller.ts";
import { invalid, PinakesError, show } from "../../domain/errors.ts";
import { ifMissing } from "../../runtime/expected-errors.ts";
import { ownerOf } from "../files/file-records.ts";
import { notFound } from "../access/access.ts";
import { itemsOf } from "../../runtime/pages.ts";
import type { LibraryRecords, RecordOf } from "./library-records.ts";
import { libraryLimits } from "./limits.ts";

type Kind = Parameters<LibraryRecords["create"]>[1]["kind"];
type Input = Parameters<LibraryRecords["create"]>[1];
type Fields<K extends Kind> = Omit<Extract<Input, { readonly kind: K }>, "owner">;

export class LibraryStore {
  readonly #records: LibraryRecords;

  constructor(records: LibraryRecords) {
    this.#records = records;
  }

  async create<K extends Kind>(caller: Caller, fields: Fields<K>): Promise<RecordOf<K>> {
    return (await this.#records.create(requireCaller(caller), this.#owned(caller, fields))) as RecordOf<K>;
  }

  async put<K extends Kind>(caller: Caller, fields: Fields<K>): Promise<RecordOf<K>> {
    return (await this.#records.upsert(requireCaller(caller), this.#owned(caller, fields))) as RecordOf<K>;
  }

  async find<K extends Kind>(caller: Caller, kind: K, id: string): Promise<RecordOf<K> | undefined> {
    const found = await this.#records.read(requireCaller(caller), { owner: ownerOf(caller.userId), id });
    return found?.kind === kind ? (found as RecordOf<K>) : undefined;
  }

  async get<K extends Kind>(caller: Caller, kind: K, id: string, what: string): Promise<RecordOf<K>> {
    const found = await this.find(caller, kind, id);
    if (found === undefined) throw notFound(what);
    return found;
  }

  async change<K extends Kind>(
    caller: Caller,
    kind: K,
    id: string,
    to: (record: RecordOf<K>) => RecordOf<K>,
  ): Promise<RecordOf<K>> {
    const key = { owner: ownerOf(caller.userId), id };
    const changed = await this.#records.update(requireCaller(caller), key, (record) =>
      record.kind === kind ? to(record as RecordOf<K>) : record,
    );
    return changed as RecordOf<K>;
  }

  /** All, up to the limit of a list; more than that are an error, never a shorter answer. */
  async list<K extends Kind>(caller: Caller, kind: K, prefix: string): Promise<readonly RecordOf<K>[]> {
    const found: RecordOf<K>[] = [];
    for await (const record of this.each(caller, kind, prefix)) {
      if (found.length >= libraryLimits.listedMax)
        throw new PinakesError("LIMIT_EXCEEDED", `There are more than ${libraryLimits.listedMax}; a list has no more.`);
      found.push(record);
    }
    return found;
  }

  async *each<K extends Kind>(caller: Caller, kind: K, prefix: string): AsyncGenerator<RecordOf<K>> {
    const scope = requireCaller(caller);
    for await (const record of itemsOf((cursor) =>
      this.#records.list(
        scope,
        { owner: ownerOf(caller.userId) },
        { range: { prefix }, limit: libraryLimits.recordsPerRead, cursor },
      ),
    ))
      if (record.kind === kind) yield record as RecordOf<K>;
  }

  async remove(caller: Caller, id: string): Promise<void> {
    await ifMissing(this.#records.delete(requireCaller(caller), { owner: ownerOf(caller.userId), id }));
  }

  #owned<K extends Kind>(caller: Caller, fields: Fields<K>): Input & { readonly id: string } {
    return { ...fields, owner: ownerOf(caller.userId) } as unknown as Input & { readonly id: string };
  }
}

/** An id that a client chose: any text without control characters. */
export function checkLibraryId(id: unknown, name: string): string {
  if (
    typeof id === "string" &&
    id !== "" &&
    id.length <= libraryLimits.idCharsMax &&
    !/\p{Cc}/u.test(id) &&
    id.isWellFormed()
  )
    return id;
  throw invalid(
    `${name}: must be a string of 1–${libraryLimits.idCharsMax} characters without control characters, got ${show(id)}.`,
  );
}

export function checkText(text: unknown, name: string, charsMax: number): string {
  if (typeof text !== "string" || text.length > charsMax || text.includes("\0") || !text.isWellFormed())
    throw invalid(`${name}: must be a string of at most ${charsMax} characters.`);
  return text;
}

export function checkTags(tags: readonly string[]): string[] {
  const { tagsMax, tagCharsMax } = libraryLimits;
  if (tags.length > tagsMax) throw invalid(`tags: at most ${tagsMax} are possible.`);
  return [...new Set(tags.map((tag) => checkText(tag, "tags", tagCharsMax)))];
}
