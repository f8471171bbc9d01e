/** `field=value` words to a change of a collection. */
import type { Collection, CollectionChange, JsonObject } from "@pinakes/client";
import { readJson, splitList, UsageError } from "../terminal/command.ts";
import { suggest } from "../terminal/suggest.ts";

export const changesHelp = `
  name=TEXT
  description=TEXT
  tags=a,b                       replaces all tags
  custom_fields=JSON             the same
  allowed_groups=a,b             empty: as the repository says
  chunking_strategy=JSON         empty: as the repository says; documents that are here keep their passages until a reindex
  allow_chunking_override=true   whether an upload may be cut in another way
  graph=JSON                     what of documents goes into the graph, from the next upload or reindex on: {"extract":"structured"}, off, cooccurrence, llm;
                                 empty: as the repository says
  private=true`;

type Change = (text: string, now: Collection) => CollectionChange;

const changes: Readonly<Record<string, Change>> = {
  name: (name) => ({ name }),
  description: (description) => ({ description }),
  // A change replaces the whole metadata: the other part is repeated.
  tags: (text, { metadata }) => ({ metadata: { ...metadata, tags: splitList(text) } }),
  custom_fields: (text, { metadata }) => ({
    metadata: { ...metadata, custom_fields: text === "" ? {} : object(text, "custom_fields") },
  }),
  allowed_groups: (text) => ({ allowed_groups: text === "" ? null : splitList(text) }),
  chunking_strategy: (text) => ({ chunking_strategy: text === "" ? null : object(text, "chunking_strategy") }),
  allow_chunking_override: (text) => ({ allow_chunking_override: yesOrNo(text, "allow_chunking_override") }),
  graph: (text) => ({ graph: text === "" ? null : object(text, "graph") }),
  private: (text) => ({ private: yesOrNo(text, "private") }),
};

export function readChanges(words: readonly string[], now: Collection): CollectionChange {
  let patch: CollectionChange = {};
  let state = now;
  for (const word of words) {
    const at = word.indexOf("=");
    if (at === -1) throw new UsageError(`"${word}": write field=value, such as name=Papers.`);
    const field = word.slice(0, at).replaceAll("-", "_");
    const change = Object.hasOwn(changes, field) ? changes[field] : undefined;
    if (change === undefined) throw new UsageError(unknown(field));
    patch = { ...patch, ...change(word.slice(at + 1), state) };
    // Tags and custom fields are one field of the record: the second builds on the first.
    if (patch.metadata !== undefined) state = { ...state, metadata: patch.metadata as Collection["metadata"] };
  }
  return patch;
}

/** The value is validated by the feature. */
function object(text: string, field: string): JsonObject {
  return readJson(text, field) as JsonObject;
}

function unknown(field: string): string {
  const meant = suggest(field, Object.keys(changes));
  return `there is no field "${field}"; ${meant === undefined ? `known fields: ${Object.keys(changes).join(", ")}` : `did you mean "${meant}"?`}`;
}

function yesOrNo(text: string, field: string): boolean {
  if (text === "true" || text === "yes") return true;
  if (text === "false" || text === "no") return false;
  throw new UsageError(`${field}: must be true or false, got "${text}".`);
}
