/** A machine whose processes fail or die at one of their calls, and the recovery. */
import type { NewRepository } from "../../../src/knowledge/index.ts";
import type { FaultKind } from "../../vectors/support/calls.ts";
import type { Machine, Process } from "./machine.ts";
import type { Place } from "./test-pinakes.ts";

const minute = 60_000;

export class Crashes {
  readonly #machine: Machine;
  readonly #repository: NewRepository;
  #places = 0;

  constructor(machine: Machine, repository: Omit<NewRepository, "repository_id"> = {}) {
    this.#machine = machine;
    this.#repository = { repository_id: "crashes", ...repository };
  }

  /** A new, empty collection. */
  async freshPlace(): Promise<Place> {
    const { knowledge } = await this.#machine.process();
    const caller = this.#machine.admin;
    if (this.#places === 0) await knowledge.repositories.create(caller, this.#repository);
    this.#places += 1;
    const { collection_id } = await knowledge.collections.create(caller, "crashes", { name: `C ${this.#places}` });
    return { knowledge, caller, repository: "crashes", collection: collection_id };
  }

  /** Runs a new process with a fault at its n-th call: returns the name of that call, or undefined if there were fewer. */
  async faultAt(n: number, kind: FaultKind, run: (process: Process) => Promise<void>): Promise<string | undefined> {
    const process = await this.#machine.process();
    process.calls.add({ at: n, kind });
    await Promise.race([run(process).catch(() => {}), process.calls.died]);
    const name = process.calls.names[n];
    if (name !== undefined && !process.calls.dead) await process.close();
    return name;
  }

  /** Another process takes over, and time passes. */
  async recover(): Promise<void> {
    const other = await this.#machine.process();
    for (let round = 0; round < 8; round += 1) {
      this.#machine.now += round === 0 ? 2.1 * minute : 11 * minute;
      await other.sweep();
      await other.work();
    }
    await other.close();
  }
}
