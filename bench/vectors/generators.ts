/** The two kinds of synthetic vectors. Row `i` of a stream depends only on the seed, the stream and `i`. */
import { Random, zipf } from "./random.ts";

/** Writes vector `index` of `stream` to `out[at, at + dims)`, with length one. */
export type Generator = (out: Float32Array, at: number, stream: number, index: number) => void;

/** Streams from 1 on are for rows and queries. */
const modelStream = 0;

/** 500 topics in 25 super-topics; each a gaussian with 24 directions of decaying strength, plus noise; some topics are far more common. */
export function clustered(seed: number, dims: number): Generator {
  const supers = 25;
  const topics = 500;
  const rank = 24;
  const random = new Random(seed, modelStream);
  const superCentres = Array.from({ length: supers }, () => random.normals(dims, 1));
  const centres = Array.from({ length: topics }, () =>
    add(random.normals(dims, 0.8), superCentres[random.integer(supers)]),
  );
  const strengths = Array.from({ length: rank }, (_, j) => (j + 1) ** -0.5);
  const spread = 0.9 / Math.hypot(...strengths);
  const bases = Array.from({ length: topics }, () =>
    strengths.map((strength) => random.normals(dims, strength * spread)),
  );
  const pick = zipf(topics, 0.7);
  const noise = 0.8 / Math.sqrt(dims);
  return (out, at, stream, index) => {
    const row = new Random(seed, stream, index);
    const topic = pick(row);
    const vector = out.subarray(at, at + dims);
    vector.set(centres[topic] ?? []);
    for (const direction of bases[topic] ?? []) addScaled(vector, direction, row.normal());
    for (let d = 0; d < dims; d += 1) vector[d] = (vector[d] ?? 0) + row.normal() * noise;
    normalise(vector);
  };
}

/** No clusters: a curved manifold of 32 dimensions, blurred by strong noise in all dimensions. The worst case for inverted lists. */
export function hard(seed: number, dims: number): Generator {
  const latent = 32;
  const hidden = 128;
  const random = new Random(seed, modelStream);
  const first = Array.from({ length: latent }, () => random.normals(hidden, Math.sqrt(hidden / latent)));
  const second = Array.from({ length: hidden }, () => random.normals(dims, 1 / Math.sqrt(hidden)));
  const noise = 0.35 / Math.sqrt(dims);
  const inner = new Float32Array(hidden);
  return (out, at, stream, index) => {
    const row = new Random(seed, stream, index);
    inner.fill(0);
    for (const weights of first) addScaled(inner, weights, row.normal());
    const vector = out.subarray(at, at + dims).fill(0);
    for (let h = 0; h < hidden; h += 1) addScaled(vector, second[h] ?? inner, Math.tanh(inner[h] ?? 0));
    for (let d = 0; d < dims; d += 1) vector[d] = (vector[d] ?? 0) + row.normal() * noise;
    normalise(vector);
  };
}

function add(a: Float32Array, b: Float32Array | undefined): Float32Array {
  return a.map((value, d) => value + (b?.[d] ?? 0));
}

function addScaled(vector: Float32Array, direction: Float32Array, scale: number): void {
  for (let d = 0; d < vector.length; d += 1) vector[d] = (vector[d] as number) + (direction[d] as number) * scale;
}

function normalise(vector: Float32Array): void {
  let sum = 0;
  for (let d = 0; d < vector.length; d += 1) sum += (vector[d] as number) ** 2;
  const scale = 1 / Math.sqrt(sum);
  for (let d = 0; d < vector.length; d += 1) vector[d] = (vector[d] as number) * scale;
}
