/** Line, area and bar charts over time. Loaded on first use, because the library is large. */
import { lazyPart } from "./lazy-part.tsx";

export interface Series {
  readonly key: string;
  readonly label: string;
}

export interface ChartProps {
  /** Description for screen readers. */
  readonly label: string;
  readonly kind?: "line" | "area" | "bar";
  /** Each with `at` (ISO time or any label) and one number per series. */
  readonly points: readonly Readonly<Record<string, string | number | null>>[];
  readonly series: readonly Series[];
  readonly format?: (value: number) => string;
  readonly formatAt?: (at: string) => string;
  /** The period that each point covers, starting at `at`. */
  readonly stepMs?: number;
  /** Counts: no fractions on the axis. */
  readonly whole?: boolean;
  readonly height?: number;
  readonly stacked?: boolean;
}

const Drawn = lazyPart(async () => (await import("./recharts.tsx")).default);

export function Chart(props: ChartProps) {
  const height = props.height ?? 220;
  return (
    <figure aria-label={props.label} className="min-w-0" style={{ height }}>
      <Drawn {...props} height={height} />
    </figure>
  );
}
