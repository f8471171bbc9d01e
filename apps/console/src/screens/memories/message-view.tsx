import type { Memory } from "@pinakes/client";
import { cx } from "../../lib/class-names.ts";
import { formatDateTime } from "../../lib/format.ts";
import { memoryStrings } from "../../strings/memories.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";

const s = memoryStrings.message;

const tones: Readonly<Record<string, Tone>> = { user: "brand", assistant: "good", system: "warn" };

interface MessageViewProps {
  readonly message: Memory;
  /** Undefined without a context preview. */
  readonly fits?: boolean | undefined;
  readonly onThread?: () => void;
  readonly onFork?: () => void;
}

/** A message, rendered as plain text: content never becomes markup. */
export function MessageView({ message, fits, onThread, onFork }: MessageViewProps) {
  const { message_type: type, metadata } = message;
  const { tool_name: tool, tool_args: args, tool_result: result, model } = metadata;
  return (
    <div className={cx("flex flex-col gap-2", fits === false && "border-l-4 pl-3")}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-soft">
        <Badge tone={tones[type] ?? "plain"}>{Object.hasOwn(s.roles, type) ? s.roles[type] : type}</Badge>
        <time dateTime={message.timestamp}>{formatDateTime(message.timestamp)}</time>
        <span>{s.tokens(message.token_count)}</span>
        {typeof tool === "string" && <span>{tool}</span>}
        {model !== undefined && model !== "" && <span>{model}</span>}
        {fits !== undefined && <Badge tone={fits ? "good" : "plain"}>{fits ? s.included : s.omitted}</Badge>}
        <span className="flex-1" />
        {onThread !== undefined && (
          <Button size="small" look="quiet" onClick={onThread}>
            {s.thread}
          </Button>
        )}
        {onFork !== undefined && (
          <Button size="small" look="quiet" onClick={onFork}>
            {s.forkHere}
          </Button>
        )}
      </div>
      <p className={cx("text-sm break-words whitespace-pre-wrap", fits === false && "text-soft")}>{message.content}</p>
      {args !== undefined && args !== null && <Json title={s.args} value={args} />}
      {result !== undefined && result !== null && <Json title={s.result} value={result} />}
    </div>
  );
}

function Json({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <details className="text-xs">
      <summary className="w-fit cursor-pointer rounded text-soft">{title}</summary>
      <pre
        tabIndex={0}
        className="mt-1 max-h-60 overflow-auto rounded bg-raised p-2 font-mono break-words whitespace-pre-wrap"
      >
        {JSON.stringify(value, null, 2)}
      </pre>
    </details>
  );
}
