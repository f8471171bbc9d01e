import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { uiStrings as s } from "../strings/ui.ts";
import { Button } from "./button.tsx";
import { toastError } from "./toast.tsx";

const shownMs = 1_500;

export function CopyButton({ text, label = s.copy }: { readonly text: string; readonly label?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      // The clipboard is unavailable over plain HTTP, and browsers may refuse.
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), shownMs);
    } catch (error) {
      toastError(s.notCopied, error);
    }
  };
  return (
    <Button size="small" look="quiet" onClick={() => void copy()} aria-label={label}>
      {copied ? <Check aria-hidden /> : <Copy aria-hidden />}
      {copied ? s.copied : label}
    </Button>
  );
}
