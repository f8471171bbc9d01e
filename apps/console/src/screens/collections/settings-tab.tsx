import type { ChunkingStrategy, Collection } from "@pinakes/client";
import { Pencil } from "lucide-react";
import { formatNumber } from "../../lib/format.ts";
import { collectionStrings } from "../../strings/collection.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { Ago } from "../../ui/time.tsx";

const { facts: s, actions, strategy, units } = collectionStrings;

export default function SettingsTab({
  collection,
  onEdit,
}: {
  readonly collection: Collection;
  readonly onEdit: () => void;
}) {
  const { metadata, access } = collection;
  const fields = metadata.custom_fields ?? {};
  const edit = (
    <Button size="small" onClick={onEdit} disabled={access !== "ADMIN" || collection.status !== "ACTIVE"}>
      <Pencil aria-hidden />
      {actions.edit}
    </Button>
  );
  return (
    <div className="grid gap-4 lg:grid-cols-[3fr_2fr]">
      <Panel title={s.title} actions={edit}>
        <Facts of={factsOf(collection)} />
      </Panel>
      <Panel title={s.metadata}>
        {Object.keys(fields).length === 0 ? (
          <p className="text-sm text-soft">{s.noMetadata}</p>
        ) : (
          <CodeEditor label={s.metadata} language="json" readOnly value={JSON.stringify(fields, null, 2)} />
        )}
      </Panel>
    </div>
  );
}

function factsOf(collection: Collection): Parameters<typeof Facts>[0]["of"] {
  const {
    description,
    metadata,
    own_chunking_strategy: own,
    effective_groups,
    last_sync_at,
    last_used_at,
  } = collection;
  return [
    [s.name, <ShownName key="name" of={collection.name} />],
    [s.id, <Copied key="id" text={collection.collection_id} />],
    [s.repository, <Copied key="repository" text={collection.repository_id} />],
    [
      s.description,
      description === undefined || description === "" ? (
        s.none
      ) : (
        <span className="whitespace-pre-line">{description}</span>
      ),
    ],
    [s.tags, <Tags key="tags" of={metadata.tags ?? []} />],
    [s.chunking, `${chunkingWords(collection.chunking_strategy)}${own === null ? ` (${s.inherited})` : ""}`],
    [s.override, collection.allow_chunking_override ? s.allowed : s.notAllowed],
    [s.model, collection.embedding_model],
    [s.graph, collection.graph.extract],
    [
      s.access,
      collection.private ? s.onlyCreator : effective_groups === null ? s.everyone : effective_groups.join(", "),
    ],
    [s.yours, collection.access ?? s.none],
    [s.createdBy, collection.created_by],
    [s.created, <Ago key="created" at={collection.created_at} />],
    [s.updated, <Ago key="updated" at={collection.updated_at} />],
    [s.indexed, last_sync_at === null ? s.never : <Ago key="indexed" at={last_sync_at} />],
    [s.used, last_used_at === null ? s.never : <Ago key="used" at={last_used_at} />],
    [
      s.incarnation,
      <code key="life" className="font-mono text-xs">
        {collection.incarnation}
      </code>,
    ],
  ];
}

function chunkingWords({ type, chunk_size, chunk_overlap, unit }: ChunkingStrategy): string {
  if (type === "NONE" || chunk_size === undefined) return type;
  return strategy(
    type,
    formatNumber(chunk_size),
    formatNumber(chunk_overlap ?? 0),
    unit === "token" ? units.token : units.char,
  );
}

function Tags({ of }: { readonly of: readonly string[] }) {
  if (of.length === 0) return s.none;
  return (
    <span className="flex flex-wrap gap-1">
      {of.map((tag) => (
        <Badge key={tag}>{tag}</Badge>
      ))}
    </span>
  );
}

function Copied({ text }: { readonly text: string }) {
  return (
    <span className="flex flex-wrap items-center gap-1">
      <code className="font-mono text-xs break-all">{text}</code>
      <CopyButton text={text} />
    </span>
  );
}
