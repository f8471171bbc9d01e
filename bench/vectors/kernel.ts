/** kernel.wat, assembled on demand (binaryen comes with AssemblyScript, in the root). */
import { readFileSync } from "node:fs";
import binaryen from "binaryen";

const pageBytes = 65_536;

export interface Kernel {
  dots(queries: number, rows: number, out: number, bytes: number, queryCount: number, rowCount: number): void;
  readAll(from: number, to: number): number;
}

/** Can be sent to a worker. */
export function assembleKernel(): WebAssembly.Module {
  const module = binaryen.parseText(readFileSync(new URL("kernel.wat", import.meta.url), "utf8"));
  module.setFeatures(binaryen.Features.SIMD128);
  if (module.validate() === 0) throw new Error("kernel.wat is not valid.");
  return new WebAssembly.Module(module.emitBinary() as Uint8Array<ArrayBuffer>);
}

export function startKernel(module: WebAssembly.Module, bytes: number): { memory: WebAssembly.Memory; kernel: Kernel } {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / pageBytes) });
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  return { memory, kernel: exports as unknown as Kernel };
}
