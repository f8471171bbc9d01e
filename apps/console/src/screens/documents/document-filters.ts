/** Filters of the document list, in the URL of the collection's page. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { oneOfParam, textParam } from "../../lib/search-params.ts";

const documentStatuses = ["uploading", "pending", "indexing", "indexed", "failed"] as const;
type DocumentStatus = (typeof documentStatuses)[number];

export interface DocumentFilters {
  readonly name?: string | undefined;
  readonly documentStatus?: DocumentStatus | undefined;
  readonly order?: "asc" | undefined;
}

/** For `validateSearch`. */
export function documentFilters(search: Readonly<Record<string, unknown>>): DocumentFilters {
  return {
    name: textParam(search["name"]),
    documentStatus: oneOfParam(search["documentStatus"], documentStatuses),
    order: oneOfParam(search["order"], ["asc"]),
  };
}

export function useDocumentFilters(): readonly [DocumentFilters, (change: DocumentFilters) => void] {
  const filters = documentFilters(useSearch({ strict: false }));
  const navigate = useNavigate();
  const change = (wanted: DocumentFilters) =>
    void navigate({ to: ".", search: (old) => ({ ...old, ...wanted }), replace: true });
  return [filters, change];
}
