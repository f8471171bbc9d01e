/**
 * What of a collection names its place, and what that becomes elsewhere: ids in records, `catalog_id` and `user_id` of passages, and the
 * IRIs that extraction made (`urn:pinakes:<repository>:<collection>:…`). A document that is read again in the new place finds the names
 * it had. What callers wrote themselves stays as it is, unless it is such a name.
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
  /** Of the repository that it goes to, where that is a user's own. */
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

  /** Whether it says something of the new place already, which could not be told from what is moved there. */
  isOfTarget({ s, p, o, g }: Quad): boolean {
    return this.#base !== this.#newBase && [s, p, o, g].some((term) => term.startsWith(this.#newBase));
  }

  /** Fields that the ingestion wrote; those of the caller's own rows are none of these. */
  passage(metadata: JsonObject): JsonObject {
    return {
      ...metadata,
      ...("catalog_id" in metadata ? { catalog_id: this.#to.collection_id } : {}),
      ...("user_id" in metadata && this.#owner !== null ? { user_id: this.#owner } : {}),
    };
  }

  /** Of the partition of a life: a document, a source or a mark. The item it was imported from is of another place, and stays behind. */
  item(document: JsonObject): JsonObject & { readonly id: string } {
    const { imported: _, ...rest } = document as JsonObject & { readonly id: string; readonly imported?: JsonObject };
    const named = document["kind"] === "document" ? { collection_id: this.#to.collection_id } : {};
    return { ...rest, repository_id: this.#to.repository_id, incarnation: this.#to.incarnation, ...named };
  }

  #term(term: TermText): TermText {
    return term.startsWith(this.#base) ? this.#newBase + term.slice(this.#base.length) : term;
  }
}
