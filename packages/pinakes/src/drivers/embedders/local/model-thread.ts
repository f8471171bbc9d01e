/** A thread with a model of its own. Texts that come while it loads wait in its mailbox. */
import { parentPort, workerData } from "node:worker_threads";
import { sendError, type Answer, type Order, type ThreadData } from "./messages.ts";
import { OnnxModel } from "./onnx-model.ts";

const { folder, tokensMax } = workerData as ThreadData;
const port = parentPort;

function answer(message: Answer, transfer: readonly ArrayBuffer[] = []): void {
  port?.postMessage(message, transfer);
}

async function embed(model: OnnxModel, text: string): Promise<void> {
  try {
    const vector = await model.embed(text);
    answer({ kind: "vector", vector }, [vector.buffer as ArrayBuffer]);
  } catch (error) {
    answer({ kind: "error", error: sendError(error) });
  }
}

async function follow(model: OnnxModel, order: Order): Promise<void> {
  if (order !== "close") return embed(model, order.text);
  port?.close();
  await model.close();
}

try {
  const model = await OnnxModel.load(folder, tokensMax);
  port?.on("message", (order: Order) => follow(model, order));
} catch (error) {
  answer({ kind: "failed", error: sendError(error) });
  port?.close();
}
