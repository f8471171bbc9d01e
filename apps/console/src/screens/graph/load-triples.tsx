/** Loads asserted triples from text or a file. All or nothing, so that a corrected file can be sent again. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ChangeEvent, useState } from "react";
import type { CollectionId } from "../../api/collections.ts";
import { loadTriples } from "../../api/graph.ts";
import { formatBytes } from "../../lib/format.ts";
import { graphStrings } from "../../strings/graph.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { inputClass, Select, TextArea } from "../../ui/field.tsx";
import { ErrorBox, messageOf } from "../../ui/states.tsx";
import { toast } from "../../ui/toast.tsx";

const s = graphStrings.load;
/** The browser holds the file as one string; larger files need the command line, which streams them. */
const textBytesMax = 20_000_000;
/** Larger texts make the text area slow. */
const shownCharsMax = 200_000;

interface Chosen {
  readonly text: string;
  readonly filename?: string | undefined;
}

export function LoadTriples({ id, onClose }: { readonly id: CollectionId; readonly onClose: () => void }) {
  const [type, setType] = useState<RdfType>("text/turtle");
  const [chosen, setChosen] = useState<Chosen>({ text: "" });
  const [refused, setRefused] = useState<string>();
  const client = useQueryClient();
  const loading = useMutation({
    mutationFn: () => loadTriples(id, chosen.text, type),
    onSuccess: async ({ read, inserted }) => {
      toast(s.done(read, inserted));
      onClose();
      await client.invalidateQueries({ queryKey: ["triples", id.rid, id.cid] });
    },
  });
  const takeFile = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    target.value = "";
    loading.reset();
    setRefused(
      file !== undefined && file.size > textBytesMax
        ? s.tooLarge(formatBytes(file.size), formatBytes(textBytesMax))
        : undefined,
    );
    if (file === undefined || file.size > textBytesMax) return;
    setChosen({ text: await file.text(), filename: file.name });
    setType((old) => rdfTypeOf(file.name) ?? old);
  };
  return (
    <Dialog open onClose={onClose} title={s.title} about={s.about} wide unsaved={chosen.text !== ""}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!loading.isPending && chosen.text.trim() !== "") loading.mutate();
        }}
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <Select
            label={s.format}
            value={type}
            choices={rdfFormats.map(({ type: value, label }) => ({ value, label }))}
            onChoose={setType}
          />
          <label className="flex min-w-0 flex-col gap-1 text-xs font-medium text-soft">
            {s.file}
            <input
              type="file"
              accept={rdfEndings}
              className={`${inputClass} py-1.5 font-normal`}
              onChange={(event) => void takeFile(event)}
            />
          </label>
        </div>
        {refused !== undefined && (
          <p role="alert" className="text-sm text-bad">
            {refused}
          </p>
        )}
        <Body chosen={chosen} onChange={setChosen} />
        {loading.error !== null && <LoadError error={loading.error} text={chosen.text} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{s.cancel}</Button>
          <Button type="submit" look="main" disabled={loading.isPending || chosen.text.trim() === ""}>
            {loading.isPending ? s.loading : s.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Body({
  chosen: { text, filename },
  onChange,
}: {
  readonly chosen: Chosen;
  readonly onChange: (next: Chosen) => void;
}) {
  if (text.length > shownCharsMax)
    return (
      <div className="flex flex-wrap items-center gap-3 text-sm">
        <span className="min-w-0 break-all">{s.large(filename ?? s.text, formatBytes(text.length))}</span>
        <Button size="small" onClick={() => onChange({ text: "" })}>
          {s.clear}
        </Button>
      </div>
    );
  return (
    <TextArea
      label={filename === undefined ? s.text : s.textOf(filename)}
      className="[&_textarea]:font-mono [&_textarea]:text-xs"
      rows={12}
      spellCheck={false}
      placeholder={s.example}
      value={text}
      onChange={({ target }) => onChange({ text: target.value, filename })}
    />
  );
}

const rdfFormats = [
  { type: "text/turtle", label: "Turtle", endings: ["ttl", "turtle"] },
  { type: "application/trig", label: "TriG", endings: ["trig"] },
  { type: "application/n-triples", label: "N-Triples", endings: ["nt"] },
  { type: "application/n-quads", label: "N-Quads", endings: ["nq"] },
  { type: "application/ld+json", label: "JSON-LD", endings: ["jsonld", "json"] },
  { type: "application/rdf+xml", label: "RDF/XML", endings: ["rdf", "xml", "owl"] },
] as const;

type RdfType = (typeof rdfFormats)[number]["type"];

/** Undefined for an unknown extension. */
function rdfTypeOf(filename: string): RdfType | undefined {
  const ending = filename.split(".").at(-1)?.toLowerCase() ?? "";
  return rdfFormats.find(({ endings }) => (endings as readonly string[]).includes(ending))?.type;
}

const rdfEndings = rdfFormats.flatMap(({ endings }) => endings.map((ending) => `.${ending}`)).join(",");

const lineCharsMax = 500;

function LoadError({ error, text }: { readonly error: unknown; readonly text: string }) {
  // The problem has no field for the line: its detail starts with it.
  const number = /^Line (\d+) of /.exec(messageOf(error))?.[1];
  const line = number === undefined ? undefined : text.split("\n")[Number(number) - 1];
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <ErrorBox error={error} />
      {line !== undefined && (
        <figure className="rounded-md border bg-panel p-3">
          <figcaption className="text-xs text-soft">{s.line(Number(number))}</figcaption>
          <pre className="overflow-x-auto font-mono text-xs" tabIndex={0}>
            {line.slice(0, lineCharsMax)}
          </pre>
        </figure>
      )}
    </div>
  );
}
