/** What plant.ts does not plant: containers of callers, rows with vectors of their own in several versions, links, and an export. */
import type { Caller } from "../../../src/domain/caller.ts";
import { until } from "../../support/until.ts";
import type { TestPinakes } from "../../knowledge/support/test-pinakes.ts";
import type { Shared } from "./plant.ts";

export const orders = "orders";

/** Returns the canaries. */
export async function plantMore(
  test: TestPinakes,
  { repository, collection }: Shared,
  user: string,
): Promise<readonly string[]> {
  const { pinakes, knowledge } = test;
  const canaries: string[] = [];
  const canary = (what: string): string => {
    const text = `canary${user}more${what}${canaries.length}x${Math.random().toString(36).slice(2, 10)}`;
    canaries.push(text);
    return text;
  };
  const who = test.as(user, { role: "admin" });
  const own = pinakes.state.as(who).containers;
  await own.put(orders, { partition_key: "/customer" });
  await own.create(orders, { id: canary("orderid"), customer: "c1", user_id: user, note: canary("order") });
  await own.upsert(orders, { id: `changed-${user}`, customer: "c1", user_id: user, note: canary("orderbefore") });
  await own.upsert(orders, { id: `changed-${user}`, customer: "c1", user_id: user, note: canary("orderafter") });
  await pinakes.state.as(who).systemThreads.append(`system-${user}`, { user_id: user, text: canary("system") });
  await knowledge.grants.upload(who, repository, collection, { name: `${canary("granted")}.md` });
  await plantRows(test, who, `rows-${user}`, canary);
  return canaries;
}

/** In files of several generations: each compaction leaves the version before it. */
async function plantRows(
  { knowledge }: TestPinakes,
  who: Caller,
  repository: string,
  canary: (what: string) => string,
): Promise<void> {
  await knowledge.repositories.create(who, { repository_id: repository });
  const { collection_id } = await knowledge.collections.create(who, repository, { name: "Rows" });
  for (const generation of [1, 2, 3]) {
    const items = [
      { id: "same", vector: [generation, 1], text: canary("samerow"), metadata: { user_id: who.userId } },
      { id: `g${generation}`, vector: [1, generation], text: canary("row"), metadata: { user_id: who.userId } },
      { id: `other${generation}`, vector: [1, 1], text: "a row of nobody", metadata: { user_id: "nobody" } },
    ];
    await knowledge.rows.upsert(who, repository, collection_id, { items });
    await knowledge.rows.compact(who, repository, collection_id);
  }
}

/** Everything held about the user once more, in archives. */
export async function exportSubject({ pinakes, admin }: TestPinakes, user: string): Promise<void> {
  const { subjectExports } = pinakes.governance;
  const { export_id } = await subjectExports.request(admin, { subject: { type: "user", id: user } });
  await until(async () => (await subjectExports.get(admin, export_id)).state === "ready");
}
