/** Checks of the doctor outside the stores: the requirements on the machine. */
import { randomUUID } from "node:crypto";
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import type { Finding } from "./doctor.ts";
import { inBytes, inMs } from "../terminal/layout.ts";

const nodeMajorMin = 24;

export function checkNode(version = process.versions.node): Finding {
  const seen = `Node ${version}`;
  if (Number(version.split(".")[0]) >= nodeMajorMin) return { state: "fine", seen };
  return {
    state: "wrong",
    seen,
    advice: `Use Node ${nodeMajorMin} or newer; npm ci brings one, which npm start and npx pinakes use.`,
  };
}

export async function checkFolder(data: string): Promise<Finding> {
  const probe = join(data, `.doctor-${randomUUID()}`);
  try {
    await mkdir(data, { recursive: true });
    await writeFile(probe, "probe");
    await rm(probe);
    return { state: "fine", seen: `${data} can be written` };
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split(",")[0] as string) : String(error);
    return {
      state: "wrong",
      seen: `${data} cannot be written (${reason})`,
      advice: "Make it writable for this user, or set PINAKES_DATA to another folder.",
    };
  }
}

export const freeBytesMin = 256 * 1024 ** 2;
export const freeBytesAdvised = 2 * 1024 ** 3;

export function checkSpace(
  data: string,
  { bavail, bsize }: { readonly bavail: number; readonly bsize: number },
): Finding {
  const free = bavail * bsize;
  const seen = `${inBytes(free)} free`;
  if (free >= freeBytesAdvised) return { state: "fine", seen };
  const advice = `Free some space on the disk of ${data}, or set PINAKES_DATA to another folder; writes fail when the disk is full.`;
  return { state: free < freeBytesMin ? "wrong" : "warning", seen, advice };
}

/** Not before the release date of this version. */
const earliest = Date.UTC(2025, 0, 1);
const latest = Date.UTC(2100, 0, 1);
/** Leases and expiry tolerate some seconds; network file systems are rarely further off. */
const skewMsMax = 5_000;

export async function checkClock(data: string, now: () => number = Date.now): Promise<Finding> {
  const probe = join(data, `.doctor-${randomUUID()}`);
  const at = now();
  const seen = new Date(at).toISOString();
  const advice = "Set the clock of this machine, preferably by NTP: leases, expiry and signed requests depend on it.";
  if (at < earliest || at > latest) return { state: "wrong", seen, advice };
  await writeFile(probe, "probe");
  try {
    const skew = Math.abs((await stat(probe)).mtimeMs - at);
    if (skew > skewMsMax)
      return { state: "warning", seen: `${seen}, but the file system of the data folder is ${inMs(skew)} off`, advice };
    return { state: "fine", seen };
  } finally {
    await rm(probe, { force: true });
  }
}

const connectMsMax = 1_000;
const answerMsMax = 2_000;

export async function checkPort(host: string, port: number): Promise<Finding> {
  if (port === 0) return { state: "fine", seen: "any free one" };
  // A server that listens on all addresses is reachable over loopback.
  const reached = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  if (!(await isTaken(reached, port))) return { state: "fine", seen: `${host}:${port} is free` };
  const shown = `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
  try {
    const answer = await fetch(`${shown}/v1/info`, { signal: AbortSignal.timeout(answerMsMax) });
    const info = (await answer.json()) as { name?: unknown; version?: unknown };
    if (info.name === "pinakes")
      return { state: "fine", seen: `a Pinakes server (${String(info.version)}) runs at ${shown}` };
  } catch {
    // Another program; its identity does not matter.
  }
  return {
    state: "warning",
    seen: `${host}:${port} is in use by another program`,
    advice: "Stop it before you start the server, or choose another port with PINAKES_PORT.",
  };
}

async function isTaken(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port, timeout: connectMsMax });
  socket.once("connect", () => resolve(true));
  socket.once("timeout", () => resolve(false));
  socket.once("error", () => resolve(false));
  return promise.finally(() => socket.destroy());
}
