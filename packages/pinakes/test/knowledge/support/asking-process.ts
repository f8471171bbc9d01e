/** A separate process over the given stores: for each message it reads and searches a collection, and answers with what it saw. */
import { open, type OpenOptions } from "../../../src/open.ts";

export interface Question {
  readonly userId: string;
  readonly groups: readonly string[];
  readonly repository: string;
  readonly collection: string;
  readonly query: string;
}

/** Names of what was read, or the error code. */
export interface Answer {
  readonly read: string;
  readonly listed: readonly string[] | string;
  readonly found: readonly string[] | string;
}

const pinakes = await open({ ...(JSON.parse(process.argv[2] as string) as OpenOptions), background: false });
const codeOf = (error: unknown): string => (error as { code?: string }).code ?? String(error);

process.on("message", (question: Question) => void answer(question).then((told) => process.send?.(told)));
process.on("disconnect", () => process.exit(0));
process.send?.("ready");

async function answer({ userId, groups, repository, collection, query }: Question): Promise<Answer> {
  const caller = pinakes.as({ tenant: "acme", userId, groups });
  const { knowledge } = pinakes;
  const names = (items: readonly { readonly name: string }[]) => items.map(({ name }) => name);
  return {
    read: await knowledge.collections.get(caller, repository, collection).then(({ name }) => name, codeOf),
    listed: await knowledge.documents.list(caller, repository, collection).then(({ items }) => names(items), codeOf),
    found: await knowledge.search
      .run(caller, { query, collections: [{ repository, collection }] })
      .then(({ hits }) => hits.map(({ text }) => text), codeOf),
  };
}
