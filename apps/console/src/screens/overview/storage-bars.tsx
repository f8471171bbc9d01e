import type { Collection } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { largestCollectionsOptions } from "../../api/storage.ts";
import { formatBytes, formatNumber } from "../../lib/format.ts";
import { overviewStrings } from "../../strings/overview.ts";
import { Badge } from "../../ui/badge.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Empty, Pending } from "../../ui/states.tsx";

const s = overviewStrings.storage;

export function StorageBars() {
  const { data, error, refetch } = useQuery(largestCollectionsOptions);
  return (
    <Panel title={s.title} actions={<Badge>{overviewStrings.scopes.workspace}</Badge>}>
      <p className="mb-3 text-xs text-soft">{s.about}</p>
      {data === undefined ? (
        <Pending of={{ error, refetch }} />
      ) : data.length === 0 ? (
        <Empty title={s.empty} />
      ) : (
        <Bars collections={data} />
      )}
    </Panel>
  );
}

function Bars({ collections }: { readonly collections: readonly Collection[] }) {
  const largest = Math.max(1, ...collections.map(({ total_size_bytes }) => total_size_bytes));
  return (
    <ul className="flex flex-col gap-2.5">
      {collections.map(
        ({
          repository_id: rid,
          collection_id: cid,
          repository_name,
          name,
          total_size_bytes,
          document_count,
          chunk_count,
          incarnation,
        }) => (
          <li key={incarnation} className="text-sm">
            <div className="flex items-baseline gap-3">
              <Link
                to="/collections/$rid/$cid"
                params={{ rid, cid }}
                className="min-w-0 truncate font-medium text-brand hover:underline"
              >
                <ShownName of={name} />
              </Link>
              <span className="min-w-0 flex-1 truncate text-xs text-soft">
                <ShownName of={repository_name} />
              </span>
              <span
                className="whitespace-nowrap tabular-nums"
                title={s.item(formatNumber(document_count), formatNumber(chunk_count))}
              >
                {formatBytes(total_size_bytes)}
              </span>
            </div>
            <div className="mt-1 h-2 rounded bg-raised" aria-hidden>
              <div
                className="h-2 min-w-0.5 rounded bg-brand"
                style={{ width: `${(100 * total_size_bytes) / largest}%` }}
              />
            </div>
          </li>
        ),
      )}
    </ul>
  );
}
