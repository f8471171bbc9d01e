/** Tabs are loaded on first use. */
import type { Collection } from "@pinakes/client";
import type { ReactNode } from "react";
import type { CollectionId } from "../../api/collections.ts";
import { collectionStrings as s } from "../../strings/collection.ts";
import { lazyPart } from "../../ui/lazy-part.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { collectionTabs, type CollectionSearch } from "./routes.ts";

const DocumentsTab = lazyPart(async () => (await import("../documents/documents-tab.tsx")).DocumentsTab);
const AskTab = lazyPart(async () => (await import("./ask-tab.tsx")).default);
const SettingsTab = lazyPart(async () => (await import("./settings-tab.tsx")).default);
const VectorsTab = lazyPart(async () => (await import("./vectors/vectors-tab.tsx")).default);
const PipelinesTab = lazyPart(async () => (await import("./pipelines/pipelines-tab.tsx")).default);

interface Props {
  readonly id: CollectionId;
  readonly collection: Collection;
  readonly search: CollectionSearch;
  readonly onChange: (next: Partial<CollectionSearch>) => void;
}

export function CollectionTabs({ id, collection, search, onChange }: Props) {
  const contents: Readonly<Record<(typeof collectionTabs)[number], ReactNode>> = {
    documents: <DocumentsTab {...id} />,
    ask: <AskTab id={id} asked={search.ask} onAsk={(ask) => onChange({ ask })} />,
    settings: <SettingsTab collection={collection} onEdit={() => onChange({ edit: true })} />,
    vectors: <VectorsTab id={id} mayCompact={collection.access === "ADMIN"} />,
    pipelines: <PipelinesTab id={id} mayChange={collection.access === "ADMIN"} onFollow={(job) => onChange({ job })} />,
  };
  return (
    <Tabs
      label={s.tabsLabel}
      value={search.tab ?? "documents"}
      onChoose={(tab) => onChange({ tab: tab === "documents" ? undefined : tab })}
      tabs={collectionTabs.map((value) => ({
        value,
        label: s.tabs[value],
        content: contents[value],
      }))}
    />
  );
}
