import { Link } from "@tanstack/react-router";
import type { Collection } from "../../api/collections.ts";
import { formatNumber } from "../../lib/format.ts";
import { homeStrings } from "../../strings/home.ts";
import { Status } from "../../ui/badge.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Ago } from "../../ui/time.tsx";

const s = homeStrings.recent;
const shownMax = 6;

export function RecentCollections({ collections }: { readonly collections: readonly Collection[] }) {
  return (
    <Panel
      title={s.collections}
      actions={
        <Link to="/collections" className={buttonClass("quiet", "small")}>
          {s.all}
        </Link>
      }
    >
      <ul className="flex flex-col gap-2">
        {collections.slice(0, shownMax).map(({ repository_id: rid, collection_id: cid, name, document_count, indexing_status, updated_at }) => (
          <li key={`${rid} ${cid}`} className="flex flex-wrap items-center gap-x-3 text-sm">
            <Link to="/collections/$rid/$cid" params={{ rid, cid }} className="min-w-0 flex-1 basis-40 truncate font-medium text-brand hover:underline">
              {name}
            </Link>
            <span className="text-xs text-soft">{s.count(formatNumber(document_count), document_count === 1)}</span>
            <Status value={indexing_status} />
            <span className="text-xs text-soft">
              <Ago at={updated_at} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
