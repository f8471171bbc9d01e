/** Units of the counts, which differ between stores. */
import type { StoreProgress } from "@pinakes/client";
import { deletionStrings } from "../../strings/deletions.ts";
import { Facts } from "../../ui/panel.tsx";

export function StoreUnits({ stores }: { readonly stores: readonly StoreProgress[] }) {
  const units = stores.flatMap(({ store, unit }) => (unit === undefined ? [] : [[store, unit] as const]));
  if (units.length === 0) return null;
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-sm font-semibold">{deletionStrings.detail.units}</h3>
      <Facts of={units} />
    </section>
  );
}
