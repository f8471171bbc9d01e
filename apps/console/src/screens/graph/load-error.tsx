import { graphStrings } from "../../strings/graph.ts";
import { ErrorBox, messageOf } from "../../ui/states.tsx";

const s = graphStrings.load;
const lineCharsMax = 500;

export function LoadError({ error, text }: { readonly error: unknown; readonly text: string }) {
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
