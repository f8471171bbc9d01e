import type { CollectionUsage } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import type { CollectionId } from "../../../api/collections.ts";
import { usageOptions } from "../../../api/vectors.ts";
import { formatNumber } from "../../../lib/format.ts";
import { vectorStrings as s } from "../../../strings/vectors.ts";
import { Button } from "../../../ui/button.tsx";
import { Facts, Panel } from "../../../ui/panel.tsx";
import { ErrorBox, Loading } from "../../../ui/states.tsx";

export function UsagePanel({ id }: { readonly id: CollectionId }) {
  const { data, error, refetch, isFetching } = useQuery(usageOptions(id));
  const again = (
    <Button size="small" disabled={isFetching} onClick={() => void refetch()}>
      {s.recount}
    </Button>
  );
  return (
    <Panel title={s.usage} actions={again}>
      {data !== undefined ? <Counts usage={data} /> : error === null ? <Loading /> : <ErrorBox error={error} />}
    </Panel>
  );
}

function Counts({ usage }: { readonly usage: CollectionUsage }) {
  const rows = [
    [s.things.documents, usage.document_count, usage.recounted.document_count],
    [s.things.chunks, usage.chunk_count, usage.recounted.chunk_count],
    [s.things.bytes, usage.total_size_bytes, usage.recounted.total_size_bytes],
  ] as const;
  return (
    <div className="flex flex-col gap-4 text-sm">
      <table className="w-full text-left">
        <thead className="text-xs text-soft">
          <tr>
            <th className="py-1 font-medium">{s.what}</th>
            <th className="py-1 text-right font-medium">{s.counted}</th>
            <th className="py-1 text-right font-medium">{s.recounted}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, counted, recounted]) => (
            <tr key={name} className="border-t">
              <th scope="row" className="py-1 font-normal">
                {name}
              </th>
              <td className="py-1 text-right tabular-nums">{formatNumber(counted)}</td>
              <td className="py-1 text-right tabular-nums">{formatNumber(recounted)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className={usage.consistent ? "text-soft" : "text-warn"}>
        {usage.consistent ? s.consistent : s.inconsistent} {usage.repaired && s.repaired}
      </p>
      <section aria-label={s.stores}>
        <p className="mb-1 text-xs font-medium text-soft">{s.stores}</p>
        <Facts of={Object.entries(usage.stores).map(([store, count]) => [store, formatNumber(count)])} />
      </section>
    </div>
  );
}
