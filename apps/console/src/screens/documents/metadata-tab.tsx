import type { Document } from "@pinakes/client";
import type { DocumentId } from "../../api/documents.ts";
import { formatDateTime, formatNumber } from "../../lib/format.ts";
import { documentStrings } from "../../strings/documents.ts";
import { CodeEditor } from "../../ui/code-editor.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { AccessPanel } from "./access-panel.tsx";

const s = documentStrings.metadata;

interface MetadataTabProps {
  readonly id: DocumentId;
  readonly document: Document;
}

export function MetadataTab({ id, document }: MetadataTabProps) {
  const { metadata, chunking_strategy: cut, source, indexed_at, graph } = document;
  return (
    <div className="grid min-w-0 gap-4 lg:grid-cols-2">
      <Panel title={s.title}>
        <Facts
          of={[
            [s.id, <code className="font-mono text-xs break-all">{document.document_id}</code>],
            [s.type, document.file_type],
            [s.size, s.bytes(formatNumber(document.size_bytes))],
            [s.sha, <code className="font-mono text-xs break-all">{document.sha256}</code>],
            [s.source, source === undefined ? "" : `${source.type}: ${source.uri}`],
            [s.uploaded, formatDateTime(document.uploaded_at)],
            [s.uploadedBy, document.uploaded_by],
            [s.indexed, indexed_at ? formatDateTime(indexed_at) : s.never],
            [
              s.chunking,
              cut ? s.chunkingOf(cut.type, cut.chunk_size ?? 0, cut.chunk_overlap ?? 0, cut.unit ?? "") : s.never,
            ],
            [s.triples, formatNumber(graph?.triples ?? 0)],
          ]}
        />
      </Panel>
      <AccessPanel id={id} document={document} />
      <Panel title={s.custom}>
        {Object.keys(metadata).length === 0 ? (
          <p className="text-sm text-soft">{s.none}</p>
        ) : (
          <CodeEditor label={s.custom} language="json" value={JSON.stringify(metadata, undefined, 2)} readOnly />
        )}
      </Panel>
    </div>
  );
}
