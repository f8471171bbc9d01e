import type { QueryPlan } from "@pinakes/client";
import { containerStrings } from "../../strings/containers.ts";
import { Facts, Panel } from "../../ui/panel.tsx";

const s = containerStrings.query.plan;

export function QueryPlanPanel({ plan }: { readonly plan: QueryPlan }) {
  const { access, index, order_served, evaluated, advice } = plan;
  return (
    <Panel title={s.title}>
      <Facts
        of={[
          [s.access, access === "partition" || access === "index" || access === "scan" ? s.accesses[access] : access],
          [s.index, index ?? s.nothing],
          [s.order, order_served ? s.orderServed : s.orderSorted],
          [s.evaluated, evaluated.length === 0 ? s.nothing : evaluated.join(", ")],
          ...(advice === null ? [] : [[s.advice, advice] as const]),
        ]}
      />
    </Panel>
  );
}
