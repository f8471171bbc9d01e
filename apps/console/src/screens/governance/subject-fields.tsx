/** The subject of an erasure or export, as a form. */
import { type ErasureSubject, type ErasureSubjectType, erasureSubjectTypes } from "@pinakes/client";
import { governanceStrings } from "../../strings/governance.ts";
import { Select, TextArea, TextField } from "../../ui/field.tsx";

const s = governanceStrings.subject;

export interface SubjectDraft {
  readonly type: ErasureSubjectType;
  readonly id: string;
  readonly repository: string;
  readonly collection: string;
  readonly documents: string;
  readonly paths: string;
}

export const emptySubject: SubjectDraft = {
  type: "user",
  id: "",
  repository: "",
  collection: "",
  documents: "",
  paths: "",
};

export function subjectOf({ type, id, repository, collection, documents }: SubjectDraft): ErasureSubject {
  if (type !== "documents") return { type, id: id.trim() };
  return {
    type,
    repository_id: repository.trim(),
    collection_id: collection.trim(),
    document_ids: linesOf(documents),
  };
}

export function pathsOf({ paths }: SubjectDraft): { readonly paths?: readonly string[] } {
  const lines = linesOf(paths);
  return lines.length === 0 ? {} : { paths: lines };
}

/** What must be typed to confirm, and what titles show. */
export function subjectName({ type, id, repository, collection }: SubjectDraft): string {
  return type === "documents" ? `${repository.trim()}/${collection.trim()}` : id.trim();
}

function linesOf(text: string): readonly string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

interface Props {
  readonly value: SubjectDraft;
  readonly onChange: (next: SubjectDraft) => void;
}

export function SubjectFields({ value, onChange }: Props) {
  const set = (next: Partial<SubjectDraft>) => onChange({ ...value, ...next });
  return (
    <>
      <Select
        label={s.type}
        value={value.type}
        choices={erasureSubjectTypes.map((type) => ({ value: type, label: s.types[type] }))}
        onChoose={(type) => set({ type })}
      />
      {value.type === "documents" ? (
        <>
          <IdField label={s.repository} value={value.repository} onType={(repository) => set({ repository })} />
          <IdField label={s.collection} value={value.collection} onType={(collection) => set({ collection })} />
          <TextArea
            label={s.ids.documents}
            hint={s.documentsHint}
            required
            rows={3}
            spellCheck={false}
            value={value.documents}
            onChange={({ target }) => set({ documents: target.value })}
          />
        </>
      ) : (
        <>
          <IdField label={s.ids[value.type]} value={value.id} onType={(id) => set({ id })} />
          <TextArea
            label={s.paths}
            hint={s.pathsHint}
            rows={2}
            spellCheck={false}
            value={value.paths}
            onChange={({ target }) => set({ paths: target.value })}
          />
        </>
      )}
    </>
  );
}

interface IdFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onType: (value: string) => void;
}

export function IdField({ label, value, onType }: IdFieldProps) {
  return (
    <TextField
      label={label}
      required
      spellCheck={false}
      autoComplete="off"
      value={value}
      onChange={({ target }) => onType(target.value)}
    />
  );
}
