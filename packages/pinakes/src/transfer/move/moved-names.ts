/**
 * Maps what depends on a collection's location: ids in records, `catalog_id` and `user_id` of chunks, and the IRIs made by extraction
 * (`urn:pinakes:<repository>:<collection>:…`). So a document extracted again in the target gets the same names. Callers' own data is
 * unchanged, unless it uses such a name.
 */
import type { JsonObject } from "../../domain/json.ts";
import type { Quad, TermText } from "../../domain/rdf.ts";
import { namesBase } from "../../knowledge/extraction/index.ts";

interface PlaceIds {
  readonly repository_id: string;
  readonly collection_id: string;
}

export class MovedNames {
  readonly #to: PlaceIds & { readonly incarnation: string };
  /** Owner of the target repository, if it is personal. */
  readonly #owner: string | null;
  readonly #base: string;
  readonly #newBase: string;

  constructor(from: PlaceIds, to: PlaceIds & { readonly incarnation: string }, owner: string | null) {
    this.#to = { repository_id: to.repository_id, collection_id: to.collection_id, incarnation: to.incarnation };
    this.#owner = owner;
    this.#base = `<${namesBase(from)}`;
    this.#newBase = `<${namesBase(to)}`;
  }

  quad({ s, p, o, g }: Quad): Quad {
    return { s: this.#term(s), p: this.#term(p), o: this.#term(o), g: this.#term(g) };
  }

  /** Whether it already refers to the target, and would be ambiguous after the move. */
  isOfTarget({ s, p, o, g }: Quad): boolean {
    return this.#base !== this.#newBase && [s, p, o, g].some((term) => term.startsWith(this.#newBase));
  }

  /** Fields written by ingestion; callers' own rows are not mapped. */
  passage(metadata: JsonObject): JsonObject {
    return {
      ...metadata,
      ...("catalog_id" in metadata ? { catalog_id: this.#to.collection_id } : {}),
      ...("user_id" in metadata && this.#owner !== null ? { user_id: this.#owner } : {}),
    };
  }

  /** A document, source or mark of an incarnation's partition. The item it was imported from belongs to the origin, and is dropped. */
  item(document: JsonObject): JsonObject & { readonly id: string } {
    const { imported: _, ...rest } = document as JsonObject & { readonly id: string; readonly imported?: JsonObject };
    const named = document["kind"] === "document" ? { collection_id: this.#to.collection_id } : {};
    return { ...rest, repository_id: this.#to.repository_id, incarnation: this.#to.incarnation, ...named };
  }

  #term(term: TermText): TermText {
    return term.startsWith(this.#base) ? this.#newBase + term.slice(this.#base.length) : term;
  }
}
