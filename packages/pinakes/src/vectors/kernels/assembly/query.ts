/** The query: from floats to 7-bit codes. */
import { codeStride, floatStride, metricOf, queryCodes, queryFloats, setQueryInverse, setQueryScale } from "./context";

export const cosine: u32 = 0;
export const dot: u32 = 1;
export const l2: u32 = 2;

/** Reads the query's floats (padded with zeros), writes its codes, scale and inverse norm. */
export function prepare(ctx: usize): void {
  const floats = queryFloats(ctx);
  const bytes = floatStride(ctx);
  let most: f32 = 0;
  let squares: f64 = 0;
  for (let i: usize = 0; i < bytes; i += 4) {
    const value = load<f32>(floats + i);
    most = max(most, abs(value));
    squares += <f64>value * <f64>value;
  }
  const codes = queryCodes(ctx);
  const stride = codeStride(ctx);
  const step: f32 = most == 0 ? 0 : <f32>63 / most;
  const count = bytes >> 2;
  for (let i: usize = 0; i < count; i += 1) store<u8>(codes + i, <u8>(64 + <i32>nearest(load<f32>(floats + (i << 2)) * step)));
  for (let i = count; i < stride; i += 1) store<u8>(codes + i, 64);
  const inverse: f32 = squares == 0 ? 0 : <f32>(1 / Math.sqrt(squares));
  setQueryInverse(ctx, inverse);
  let scale: f32 = most / <f32>63;
  const metric = metricOf(ctx);
  if (metric == cosine) scale *= inverse;
  else if (metric == l2) scale *= 2;
  setQueryScale(ctx, scale);
}
