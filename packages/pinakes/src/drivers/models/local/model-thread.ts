/** A thread with its own model. Texts that arrive while it loads wait in its message queue. */
import { sendError } from "../../../runtime/sent-error.ts";
import { parentPort, workerData } from "node:worker_threads";
import { insideGuard } from "./exit-guard.ts";
import type { Answer, Order, ThreadData, ThreadState } from "./messages.ts";
import type { OnnxModel } from "./onnx-model.ts";

const { folder, tokensMax, guard } = workerData as ThreadData & ThreadState;
const port = parentPort;

function answer(message: Answer, transfer: readonly ArrayBuffer[] = []): void {
  port?.postMessage(message, transfer);
}

async function load(): Promise<OnnxModel> {
  // Imported inside the try block: loading the library runs native code as well.
  const { OnnxModel: Model } = await import("./onnx-model.ts");
  return Model.load(folder, tokensMax);
}

async function embed(model: OnnxModel, text: string): Promise<void> {
  try {
    const vector = await insideGuard(guard, () => model.embed(text));
    answer({ kind: "vector", vector }, [vector.buffer as ArrayBuffer]);
  } catch (error) {
    answer({ kind: "error", error: sendError(error, asModelError) });
  }
}

async function follow(model: OnnxModel, order: Order): Promise<void> {
  if (order !== "close") return embed(model, order.text);
  await insideGuard(guard, () => model.close());
  port?.close();
}

try {
  const model = await insideGuard(guard, load);
  // Requests run one after another, so a model is never closed while it computes.
  let last = Promise.resolve();
  port?.on("message", (order: Order) => {
    last = last.then(() => follow(model, order));
  });
} catch (error) {
  answer({ kind: "failed", error: sendError(error, asModelError) });
  port?.close();
}

function asModelError({ message }: Error): { readonly detail: string } {
  return { detail: `The local embedding model failed: ${message}` };
}
