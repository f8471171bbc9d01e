/** What the doctor looks at inside the stores: each does for real what it is there for. */
import { randomUUID } from "node:crypto";
import type { Caller } from "../../domain/caller.ts";
import { PinakesError } from "../../domain/errors.ts";
import type { Pinakes } from "../../open.ts";
import type { Finding } from "./doctor.ts";
import { inMs } from "../terminal/layout.ts";

/** A store from before the default name changed is used under its own. */
export function checkDatabase(database: string, wanted: string): Finding {
  if (database === wanted) return { state: "fine", seen: database };
  const seen = `${database}, the default name of earlier versions; there is no database ${wanted}`;
  return {
    state: "fine",
    seen,
    advice: `Nothing has to be done. PINAKES_DATABASE=${database} says it in the settings.`,
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
    advice: "See whether the database runs and PINAKES_ITEMS and PINAKES_OBJECTS are right.",
  };
}

export async function checkObjects({ objects }: Pinakes, { scope }: Caller): Promise<Finding> {
  const key = `doctor/${randomUUID()}`;
  const sent = Buffer.from(`probe ${key}`);
  const began = performance.now();
  try {
    await objects.put(scope, key, sent);
    const got = await objects.get(scope, key);
    if (got === undefined || !sent.equals(got))
      throw new PinakesError("CORRUPT", "a probe came back other than it was written");
  } finally {
    await objects.delete(scope, [key]);
  }
  if ((await objects.get(scope, key)) !== undefined)
    throw new PinakesError("CORRUPT", "a probe is still there after it was deleted");
  return { state: "fine", seen: `a probe was written, read and deleted in ${inMs(performance.now() - began)}` };
}

const queueName = "doctor";
const receiveMsMax = 5_000;

export async function checkQueue({ queue }: Pinakes, { scope }: Caller): Promise<Finding> {
  // A queue of a cloud is made by the first message and would stay: there it is only asked for.
  if (queue.capabilities.driver === "sqs") {
    const { ready } = await queue.stats(scope, queueName);
    return { state: "fine", seen: `sqs answers (${ready} probes waiting)` };
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
        advice: "See PINAKES_QUEUE, and the database.",
      };
    // Those of a doctor who was interrupted go, too.
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
      seen: `${provider}, ${checked}${vectors[0]?.length} dimensions, ready in ${inMs(loaded - began)}, then ${inMs(ms)} for a text`,
    };
  } catch (error) {
    const seen = error instanceof Error ? error.message : String(error);
    const advice =
      provider === "local"
        ? "Run npm ci again: it brings the model's files."
        : "See PINAKES_MODELS: address, key and name of the model.";
    return { state: "wrong", seen, advice };
  }
}

export async function checkParser({ knowledge }: Pinakes, caller: Caller): Promise<Finding> {
  const text = "# Doctor\n\nA tiny text, read and cut.\n";
  const passages = await knowledge.search.previewChunking(caller, { text, chunking_strategy: { type: "MARKDOWN" } });
  const [first] = passages;
  if (first !== undefined && text.slice(first.start, first.end) === first.text)
    return { state: "fine", seen: "a tiny text was read and cut" };
  return {
    state: "wrong",
    seen: `a tiny text became ${passages.length} passages that are not in it`,
    advice: "Please report this: it is a fault of Pinakes.",
  };
}
