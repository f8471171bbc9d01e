import { useEffect, useState } from "react";
import { formatAgo, formatDateTime } from "../lib/format.ts";

const againMs = 10_000;

/** "3 min ago", with the exact time as a tooltip. */
export function Ago({ at }: { readonly at: string | number }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), againMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={new Date(at).toISOString()} title={formatDateTime(at)} className="whitespace-nowrap">
      {formatAgo(at, Math.max(now, Date.now()))}
    </time>
  );
}
