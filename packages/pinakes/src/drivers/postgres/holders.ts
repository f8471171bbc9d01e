/**
 * Unique keys inside a commit: which items hold the values that its plans claim. The commit locks the partitions, so the answer stays true.
 */
import { forTenant } from "../../items/compiled-container.ts";
import { limits } from "../../domain/limits.ts";
import type { StoredItem } from "../../items/item-engine.ts";
import type { BatchPlan, CommitRequest } from "../../items/plan-batch.ts";
import { settleClaims, uniqueClaims, type UniqueClaim } from "../../items/unique-keys.ts";
import type { Loaded } from "./catalog.ts";
import { settle, type Session } from "./connection.ts";
import { partitionKeyOf, quote, uniqueColumn } from "./names.ts";

/** The plans after their claims are settled, each by itself: values are unique within a partition. One round trip for all. */
export async function settleAllClaims(
  session: Session,
  loaded: Loaded,
  requests: readonly CommitRequest[],
  plans: readonly (BatchPlan | undefined)[],
): Promise<(BatchPlan | undefined)[]> {
  const claims = plans.map((plan) => (plan?.ok === true ? uniqueClaims(plan.writes) : []));
  const asked = claims.map((own, i) =>
    own.length === 0 ? undefined : holdersOf(session, loaded, (requests[i] as CommitRequest).pk, own),
  );
  await settle(asked.flatMap((one) => one ?? []));
  return Promise.all(
    plans.map(async (plan, i) => {
      const holders = await asked[i];
      if (plan?.ok !== true || holders === undefined) return plan;
      return settleClaims(
        forTenant(loaded.compiled, (requests[i] as CommitRequest).tenant),
        plan,
        claims[i] as UniqueClaim[],
        holders,
        (requests[i] as CommitRequest).now,
      );
    }),
  );
}

/** The current holder of each claimed value. The text is needed only if a long id is not its own key (idOf in plan-batch.ts). */
async function holdersOf(
  session: Session,
  { compiled, table }: Loaded,
  pk: string,
  claims: readonly UniqueClaim[],
): Promise<(StoredItem | undefined)[]> {
  const parts = compiled.uniqueKeys.map(({ name }, key) => {
    const column = quote(uniqueColumn(name));
    return `SELECT ${key}, ${column}, id, etag, modified_at, ttl, CASE WHEN octet_length(id) > ${limits.idNativeBytesMax} THEN doc ELSE '' END FROM ${table} WHERE pk = $1 AND ${column} = ANY ($${key + 2}::text[])`;
  });
  const values = compiled.uniqueKeys.map((_, key) =>
    claims.filter((claim) => claim.key === key).map(({ value }) => value),
  );
  const rows = await session.query<[number, string, string, string, number, number | null, string]>(
    parts.join(" UNION ALL "),
    [partitionKeyOf(pk), ...values],
  );
  const holders = new Map(
    rows.map(([key, value, idKey, etag, modifiedAt, ttl, json]) => [
      `${key}:${value}`,
      { pk, idKey, etag, modifiedAt, ttl, json },
    ]),
  );
  return claims.map(({ key, value }) => holders.get(`${key}:${value}`));
}
