import { chunkingTypes, type ChunkingStrategy, type Collection } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { repositoryOptions } from "../../../api/collections.ts";
import { collectionFormStrings as s } from "../../../strings/collection-form.ts";
import { Check, Select, TextField } from "../../../ui/field.tsx";
import { ChunkingPreview } from "./chunking-preview.tsx";
import { errorAt, type FieldErrors } from "./field-errors.ts";
import { readChunking } from "./form-values.ts";
import type { StepProps } from "./step-props.ts";

export function ChunkingStep({ values, onChange, errors, collection }: StepProps) {
  // Errors of the preview are shown at their fields, too.
  const [refused, setRefused] = useState<FieldErrors>({});
  const typed = readChunking(values);
  const shown = { ...errors, ...refused, ...typed.errors };
  const inherited = useInherited(values.repository, collection);
  const strategy = values.ownChunking ? typed.value : inherited;
  return (
    <>
      <Select
        label={s.chunking}
        value={values.ownChunking ? "own" : "inherit"}
        choices={[
          { value: "own", label: s.own },
          { value: "inherit", label: s.inherit },
        ]}
        hint={collection === undefined || collection.document_count === 0 ? undefined : s.reindexHint}
        error={
          errorAt(shown, "chunking_strategy") !== undefined && !values.ownChunking
            ? errorAt(shown, "chunking_strategy")
            : undefined
        }
        onChoose={(which) => onChange({ ownChunking: which === "own" })}
      />
      {values.ownChunking && <ChunkingFields values={values} onChange={onChange} errors={shown} />}
      <Check
        label={s.override}
        checked={values.allowOverride}
        onCheck={(allowOverride) => onChange({ allowOverride })}
      />
      <ChunkingPreview
        strategy={strategy}
        known={values.ownChunking || inherited !== undefined}
        onRefused={setRefused}
      />
    </>
  );
}

function ChunkingFields({ values, onChange, errors }: StepProps) {
  const { type, unit, size, overlap, separators, threshold } = values;
  const at = (field: string) => errorAt(errors, `chunking_strategy.${field}`);
  return (
    <div className="grid gap-4 sm:grid-cols-6">
      <Select
        label={s.type}
        className="sm:col-span-6"
        error={at("type")}
        value={type}
        choices={chunkingTypes.map((value) => ({ value, label: s.types[value] }))}
        onChoose={(next) => onChange({ type: next, ...unitFor(next, values.unit) })}
      />
      {type !== "NONE" && (
        <>
          <Select
            label={s.unit}
            className="sm:col-span-2"
            error={at("unit")}
            value={type === "TOKEN" ? "token" : unit}
            disabled={type === "TOKEN"}
            choices={[
              { value: "char", label: s.units.char },
              { value: "token", label: s.units.token },
            ]}
            onChoose={(next) => onChange({ unit: next, ...sizesFor(next) })}
          />
          <NumberField
            label={s.size}
            error={at("chunk_size")}
            value={size}
            onType={(next) => onChange({ size: next })}
          />
          <NumberField
            label={s.overlap}
            error={at("chunk_overlap")}
            value={overlap}
            onType={(next) => onChange({ overlap: next })}
          />
        </>
      )}
      {type === "RECURSIVE" && (
        <TextField
          label={s.separators}
          className="sm:col-span-6"
          hint={s.separatorsHint}
          error={at("separators")}
          value={separators}
          onChange={({ target }) => onChange({ separators: target.value })}
          spellCheck={false}
        />
      )}
      {type === "SEMANTIC" && (
        <TextField
          label={s.threshold}
          className="sm:col-span-6"
          hint={s.thresholdHint}
          error={at("threshold")}
          inputMode="decimal"
          value={threshold}
          onChange={({ target }) => onChange({ threshold: target.value })}
        />
      )}
    </div>
  );
}

/** The inherited strategy: the collection's current one, or the repository's. Unknown for a new repository. */
function useInherited(rid: string, collection: Collection | undefined): ChunkingStrategy | undefined {
  const repository = useQuery({ ...repositoryOptions(rid), enabled: rid !== "" }).data;
  if (collection?.own_chunking_strategy === null) return collection.chunking_strategy;
  return rid === "" ? undefined : repository?.effective_chunking_strategy;
}

interface NumberFieldProps {
  readonly label: string;
  readonly error: string | undefined;
  readonly value: string;
  readonly onType: (value: string) => void;
}

function NumberField({ label, error, value, onType }: NumberFieldProps) {
  return (
    <TextField
      className="sm:col-span-2"
      label={label}
      error={error}
      inputMode="numeric"
      value={value}
      onChange={({ target }) => onType(target.value)}
    />
  );
}

type Unit = "char" | "token";

/** A thousand tokens are far more than a thousand characters: changing the unit sets matching sizes. */
function sizesFor(unit: Unit): { readonly size: string; readonly overlap: string } {
  return unit === "token" ? { size: "300", overlap: "30" } : { size: "1000", overlap: "200" };
}

function unitFor(
  type: string,
  unit: Unit,
): { readonly unit?: Unit; readonly size?: string; readonly overlap?: string } {
  return type === "TOKEN" && unit === "char" ? { unit: "token", ...sizesFor("token") } : {};
}
