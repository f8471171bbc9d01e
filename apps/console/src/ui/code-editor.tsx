/** An editor for JSON and queries. Loaded on first use, because it is large. */
import { cx } from "../lib/class-names.ts";
import { lazyPart } from "./lazy-part.tsx";

export interface CodeEditorProps {
  readonly label: string;
  readonly language: "json" | "sql" | "sparql" | "text";
  readonly value: string;
  readonly onChange?: (value: string) => void;
  /** On Ctrl+Enter, with the current text, which may be newer than `value`. */
  readonly onRun?: (text: string) => void;
  readonly readOnly?: boolean;
  readonly className?: string;
}

const Editor = lazyPart<CodeEditorProps>(async () => (await import("./code-mirror.tsx")).default, {
  whileLoading: ({ value }) => <pre className="p-2 font-mono text-xs break-words whitespace-pre-wrap">{value}</pre>,
});

export function CodeEditor(props: CodeEditorProps) {
  return (
    <div className={cx("max-h-[60dvh] min-h-24 min-w-0 overflow-auto rounded-md border bg-panel", props.className)}>
      <Editor {...props} />
    </div>
  );
}
