import type { ReactNode } from "react";
import { cx } from "../lib/class-names.ts";

export type Tone = "plain" | "brand" | "good" | "warn" | "bad";

const tones: Readonly<Record<Tone, string>> = {
  plain: "bg-raised text-soft",
  brand: "bg-brand-soft text-brand",
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
};

export function Badge({
  tone = "plain",
  className,
  children,
}: {
  readonly tone?: Tone;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <span
      className={cx(
        "inline-flex items-center gap-1 rounded px-1.5 py-0.5 text-xs font-medium whitespace-nowrap",
        tones[tone],
        className,
      )}
    >
      {children}
    </span>
  );
}

/** Labels of known statuses; unknown ones are shown as they are. */
const statusTones: Readonly<Record<string, Tone>> = {
  ...tonesOf("good", ["ACTIVE", "ready", "indexed", "succeeded", "done", "completed", "success", "confirmed", "ok"]),
  ...tonesOf("brand", ["indexing", "running", "uploading", "in_progress", "copying", "sent"]),
  ...tonesOf("warn", [
    "pending",
    "queued",
    "paused",
    "ARCHIVED",
    "DELETE_IN_PROGRESS",
    "waiting",
    "cancelled",
    "timeout",
  ]),
  ...tonesOf("bad", ["failed", "error", "DELETE_FAILED", "DELETED", "dead", "failure"]),
};

export function Status({ value }: { readonly value: string }) {
  return <Badge tone={statusTones[value] ?? "plain"}>{value.toLowerCase().replaceAll("_", " ")}</Badge>;
}

function tonesOf(tone: Tone, words: readonly string[]): Record<string, Tone> {
  return Object.fromEntries(words.map((word) => [word, tone]));
}
