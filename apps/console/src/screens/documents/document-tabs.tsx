import type { Document } from "@pinakes/client";
import { getRouteApi } from "@tanstack/react-router";
import type { DocumentId } from "../../api/documents.ts";
import { documentStrings } from "../../strings/documents.ts";
import { Empty } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { FailedText } from "./failed-text.tsx";
import { MetadataTab } from "./metadata-tab.tsx";
import { ChunksTab } from "./chunks-tab.tsx";
import { TextTab } from "./text-tab.tsx";
import { TriplesTab } from "./triples-tab.tsx";
import { useSelection } from "./use-selection.ts";
import { VersionsTab } from "./versions-tab.tsx";

const { page: s, chunks: words } = documentStrings;
const route = getRouteApi("/shell/collections/$rid/$cid/documents/$did");

interface DocumentTabsProps {
  readonly id: DocumentId;
  readonly document: Document;
}

export function DocumentTabs({ id, document }: DocumentTabsProps) {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  // Not indexed yet: no text to load.
  const live = document.live_version !== null;
  const none =
    document.status === "failed" ? (
      <Empty title={words.failed}>{words.failedText}</Empty>
    ) : (
      <Empty title={words.nothing}>{words.nothingText}</Empty>
    );
  return (
    <Tabs
      label={s.tabs}
      value={tab ?? "text"}
      onChoose={(value) =>
        void navigate({ search: (old) => ({ ...old, tab: value === "text" ? undefined : value }), replace: true })
      }
      tabs={[
        {
          value: "text",
          label: s.text,
          content: live ? (
            <WithSelection id={id} document={document} tab="text" />
          ) : document.status === "failed" ? (
            <FailedText id={id} document={document} />
          ) : (
            none
          ),
        },
        {
          value: "chunks",
          label: s.chunks,
          content: live ? <WithSelection id={id} document={document} tab="chunks" /> : none,
        },
        { value: "triples", label: s.triples, content: live ? <TriplesTab id={id} document={document} /> : none },
        { value: "versions", label: s.versions, content: <VersionsTab id={id} document={document} /> },
        { value: "metadata", label: s.metadata, content: <MetadataTab id={id} document={document} /> },
      ]}
    />
  );
}

function WithSelection({ id, document, tab }: DocumentTabsProps & { readonly tab: "text" | "chunks" }) {
  const selection = useSelection(id, document);
  return tab === "text" ? (
    <TextTab id={id} document={document} selection={selection} />
  ) : (
    <ChunksTab selection={selection} />
  );
}
