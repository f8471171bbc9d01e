import { expect, it } from "vitest";
import { ratesOf } from "./activity-charts.tsx";

const point = { searches: 0, search_ms: 0, uploads: 0, upload_bytes: 0, documents_indexed: 0, documents_failed: 0 };
const at = (second: number) => new Date(Date.UTC(2030, 0, 1) + second * 1000).toISOString();

it("a step is a rate by the minute; the last one counts as long as it has lasted, but never as a moment", () => {
  const points = [
    { ...point, at: at(0), searches: 10, search_ms: 50, uploads: 30 },
    { ...point, at: at(900), searches: 2 },
  ];
  const after = (seconds: number) => ratesOf({ points, to: Date.parse(at(900 + seconds)), stepSeconds: 900 });
  expect(after(60)).toMatchObject([
    { at: at(0), uploads: 2, search_ms: 5 },
    { at: at(900), searches: 2, uploads: 0 },
  ]);
  expect(after(60)[0]?.searches).toBeCloseTo(10 / 15);
  expect(after(1)[1]?.searches).toBe(8);
});

it("where nobody searched there is no mean, not one of zero", () => {
  expect(ratesOf({ points: [{ ...point, at: at(0) }], to: Date.parse(at(60)), stepSeconds: 60 })).toMatchObject([
    { search_ms: null, searches: 0 },
  ]);
});
