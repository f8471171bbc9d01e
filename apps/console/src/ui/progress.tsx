interface ProgressProps {
  readonly done: number;
  readonly total: number;
  /** How far it is, in words; they are read out, and shown beside or below by whoever uses this. */
  readonly label: string;
}

/** How far something is. Drawn by us: the browser's own bar has a colour that the page cannot choose. */
export function Progress({ done, total, label }: ProgressProps) {
  const share = total === 0 ? 0 : Math.min(1, done / total);
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={Math.min(done, total)}
      className="h-2 w-full min-w-8 rounded bg-raised"
    >
      <div className="h-2 rounded bg-brand" style={{ width: `${100 * share}%` }} />
    </div>
  );
}
