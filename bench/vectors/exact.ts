/** Exact scans of int8 codes, by the kernel alone: how close they get to the memory bandwidth. */
import type { Row } from "../lib/report.ts";
import { SegmentSearch } from "../../packages/pinakes/src/vectors/search/search-segment.ts";
import { openFile } from "../../packages/pinakes/src/vectors/segment/file-format.ts";
import { buildDelta } from "../../packages/pinakes/src/vectors/build/build-delta.ts";
import { loadSegment } from "../../packages/pinakes/src/vectors/segment/load-segment.ts";
import { loadVectors, type SizeName } from "./data.ts";
import { inProcess } from "./candidate.ts";

export async function exactRows(gigabytesPerSecond: number): Promise<Row[]> {
  const small = await scan("10k");
  const large = await scan("100k");
  const floorMs = (bytes: number): number => bytes / gigabytesPerSecond / 1e6;
  return [
    {
      name: "exact scan of 10k × 384, CPU",
      value: small.ms,
      unit: "ms",
      bar: { atMost: 0.3 },
      note: `with rescoring; memory's floor ${floorMs(small.bytes).toFixed(3)} ms`,
    },
    {
      name: "exact scan of 100k × 384, CPU",
      value: large.ms,
      unit: "ms",
      bar: null,
      note: `memory's floor ${floorMs(large.bytes).toFixed(2)} ms: ${(large.ms / floorMs(large.bytes)).toFixed(1)} times that`,
    },
  ];
}

async function scan(size: SizeName): Promise<{ ms: number; bytes: number }> {
  const { data, questions } = await loadVectors("clustered", size);
  const rows = Array.from({ length: data.rows }, (_, i) => ({
    id: String(i),
    op: "put" as const,
    vector: data.vectors.subarray(i * data.dims, (i + 1) * data.dims),
  }));
  const file = buildDelta("bench", { dims: data.dims, metric: "cosine", language: "none" }, rows);
  const { header } = openFile(file.bytes, {
    key: "bench",
    sha256: file.sha256,
    bytes: file.bytes.byteLength,
    headBytes: file.headBytes,
  });
  const search = new SegmentSearch(
    loadSegment(header, file.bytes.byteLength, 1, [{ offset: 0, bytes: file.bytes }]),
    0,
  );
  const queries = Array.from({ length: 200 }, (_, i) => questions.query(i));
  const times = Array.from({ length: 7 }, () => {
    const start = inProcess.cpuMs();
    for (const vector of queries) search.search({ vector, k: 10 });
    return (inProcess.cpuMs() - start) / queries.length;
  });
  return { ms: times.sort((a, b) => a - b)[3] ?? Number.NaN, bytes: data.rows * data.dims };
}
