interface ProgressProps {
  readonly done: number;
  readonly total: number;
  /** Progress in words, for screen readers; the caller also shows it. */
  readonly label: string;
}

/** A custom progress bar: the native one cannot be themed. */
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
