/** The default time to live of a tenant's items, and what has expired by it. */
import { PinakesError } from "../domain/errors.ts";
import { checkContainerTtl } from "../domain/ttl.ts";
import type { DefaultTtl } from "../ports/item-store.ts";
import { forTenant, type CompiledContainer } from "./compiled-container.ts";
import type { ItemEngine, StoredKey } from "./item-engine.ts";

export function defaultTtlOf({ ttl, tenantTtls }: CompiledContainer, tenant: string): DefaultTtl {
  const [seconds, changes] = tenantTtls.get(tenant) ?? [ttl, 0];
  return { seconds, changes };
}

export async function changeDefaultTtl(
  engine: ItemEngine,
  container: CompiledContainer,
  tenant: string,
  ttl: number | null,
): Promise<void> {
  const { name, definition } = container;
  const checked = checkContainerTtl(ttl);
  // Without a time to live an engine keeps no index of expiries.
  if (definition.ttl === null)
    throw new PinakesError("NOT_SUPPORTED", `Container "${name}" is declared without a time to live.`);
  const { seconds, changes } = defaultTtlOf(container, tenant);
  if (checked === seconds) return;
  await engine.openContainer({ ...definition, tenantTtls: { [tenant]: [checked, changes + 1] } }, {});
}

/** By the container's time to live, then by those of tenants with their own. */
export async function expiredKeys(
  engine: ItemEngine,
  container: CompiledContainer,
  now: number,
  limit: number,
): Promise<readonly StoredKey[]> {
  const own = [...container.tenantTtls.keys()];
  if (own.length === 0) return engine.expired(container, now, limit);
  const keys = [...(await engine.expired(container, now, limit, { list: own, included: false }))];
  for (const tenants of Map.groupBy(own, (tenant) => container.tenantTtls.get(tenant)?.[0]).values()) {
    if (keys.length >= limit) break;
    const seen = forTenant(container, tenants[0] as string);
    keys.push(...(await engine.expired(seen, now, limit - keys.length, { list: tenants, included: true })));
  }
  return keys;
}
