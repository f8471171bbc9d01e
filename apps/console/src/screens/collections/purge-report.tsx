import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { operationDetailOptions } from "../../api/operations.ts";
import { collectionStrings } from "../../strings/collection.ts";
import { StoreTable } from "../deletions/store-table.tsx";

const s = collectionStrings.work;

export function PurgeReport({ operationId }: { readonly operationId: string }) {
  const { data, error, refetch } = useQuery(operationDetailOptions(operationId));
  return (
    <div className="flex flex-col gap-3 text-sm">
      {data?.status === "done" && <p>{data.partial ? s.partial : s.purged}</p>}
      <StoreTable stores={data?.stores} error={data === undefined ? error : undefined} onRetry={() => void refetch()} />
      <Link to="/deletions" className="self-start text-brand hover:underline">
        {s.report}
      </Link>
    </div>
  );
}
