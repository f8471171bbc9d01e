import { PinakesError } from "../../domain/errors.ts";

/** Scales the vector to length 1, in place. A zero or non-finite vector must never be stored. */
export function normalize(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const length = Math.sqrt(sum);
  if (!Number.isFinite(length) || length === 0) {
    throw new PinakesError(
      "CORRUPT",
      "The embedding model returned a vector that is not finite or has length zero. Check the model.",
    );
  }
  for (let i = 0; i < vector.length; i += 1) vector[i] = (vector[i] as number) / length;
  return vector;
}
