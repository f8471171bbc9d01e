import type { Collection } from "@pinakes/client";
import { Link } from "@tanstack/react-router";
import { formatNumber } from "../../lib/format.ts";
import { homeStrings } from "../../strings/home.ts";
import { buttonClass } from "../../ui/button.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Ago } from "../../ui/time.tsx";
import { IndexingBadge } from "../collections/indexing-badge.tsx";
import { isUnused } from "./make-collection.ts";

const s = homeStrings.recent;
const shownMax = 6;

export function RecentCollections({ collections }: { readonly collections: readonly Collection[] }) {
  const shown = collections.filter((one) => !isUnused(one)).slice(0, shownMax);
  return (
    <Panel
      title={s.collections}
      actions={
        <Link to="/collections" className={buttonClass("quiet", "small")}>
          {s.all}
        </Link>
      }
    >
      {shown.length === 0 && <p className="text-sm text-soft">{s.noCollections}</p>}
      <ul className="flex flex-col gap-2">
        {shown.map((one) => (
          <Row key={`${one.repository_id} ${one.collection_id}`} collection={one} />
        ))}
      </ul>
    </Panel>
  );
}

function Row({ collection }: { readonly collection: Collection }) {
  const { repository_id: rid, collection_id: cid, name, document_count, updated_at } = collection;
  return (
    <li className="flex flex-wrap items-center gap-x-3 text-sm">
      <Link
        to="/collections/$rid/$cid"
        params={{ rid, cid }}
        className="min-w-0 flex-1 basis-40 truncate font-medium text-brand hover:underline"
      >
        <ShownName of={name} />
      </Link>
      <span className="text-xs text-soft">{s.count(formatNumber(document_count), document_count === 1)}</span>
      <IndexingBadge collection={collection} />
      <span className="text-xs text-soft">
        <Ago at={updated_at} />
      </span>
    </li>
  );
}
