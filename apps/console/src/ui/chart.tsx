/** Lines, areas or bars over time. The library is large, so it is loaded when the first chart is shown. */
import { lazyPart } from "./lazy-part.tsx";

export interface Series {
  readonly key: string;
  readonly label: string;
}

export interface ChartProps {
  /** What it shows, for those who cannot see it. */
  readonly label: string;
  readonly kind?: "line" | "area" | "bar";
  /** Each with its `at` (ISO time or any label) and one number for each series. */
  readonly points: readonly Readonly<Record<string, string | number | null>>[];
  readonly series: readonly Series[];
  readonly format?: (value: number) => string;
  readonly formatAt?: (at: string) => string;
  /** How long each point stands for, from its `at` on. */
  readonly stepMs?: number;
  /** Counts: no fractions on their axis. */
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
