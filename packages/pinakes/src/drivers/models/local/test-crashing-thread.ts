/** The real thread, with a weakness: one text crashes it, another crashes it the first time. */
import { existsSync, writeFileSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import type { Order } from "./messages.ts";

// First the real one: an earlier listener of ours would take the messages that wait while the model loads.
await import("./model-thread.ts");
parentPort?.on("message", (order: Order) => {
  if (order === "close") return;
  if (order.text === "crash") process.exit(1);
  if (!order.text.startsWith("crash once ")) return;
  const path = order.text.slice("crash once ".length);
  if (existsSync(path)) return;
  writeFileSync(path, "");
  process.exit(1);
});
