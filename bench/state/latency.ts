/** The latency of calls, with a given number in flight. */
import { performance } from "node:perf_hooks";
import { quantile } from "../lib/measure.ts";

export interface Latencies {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly perSecond: number;
}

export async function latencies(
  calls: number,
  inFlight: number,
  call: (n: number) => Promise<unknown>,
): Promise<Latencies> {
  const times: number[] = [];
  let next = 0;
  const begin = performance.now();
  const worker = async (): Promise<void> => {
    for (let n = next++; n < calls; n = next++) {
      const start = performance.now();
      await call(n);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const seconds = (performance.now() - begin) / 1000;
  return {
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    p99: quantile(times, 0.99),
    perSecond: calls / seconds,
  };
}

export function described({ p50, p99, perSecond }: Latencies): string {
  return `p50 ${p50.toPrecision(3)} ms, p99 ${p99.toPrecision(3)} ms, ${Math.round(perSecond)}/s`;
}
