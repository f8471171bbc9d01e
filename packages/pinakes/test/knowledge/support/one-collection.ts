/** A machine with one process and one collection: the start of most tests that control every call. */
import { Machine, type Process } from "./machine.ts";
import { body, type Place } from "./test-pinakes.ts";

export class OneCollection implements AsyncDisposable {
  readonly machine: Machine;
  readonly process: Process;
  readonly place: Place;

  private constructor(machine: Machine, process: Process, place: Place) {
    this.machine = machine;
    this.process = process;
    this.place = place;
  }

  static async open(): Promise<OneCollection> {
    const machine = await Machine.open();
    const process = await machine.process();
    const { knowledge } = process;
    await knowledge.repositories.create(machine.admin, { repository_id: "kb" });
    const { collection_id } = await knowledge.collections.create(machine.admin, "kb", { name: "Papers" });
    return new OneCollection(machine, process, {
      knowledge,
      caller: machine.admin,
      repository: "kb",
      collection: collection_id,
    });
  }

  async send(
    name: string,
    text: string,
    { replace = false, from = this.process }: { readonly replace?: boolean; readonly from?: Process } = {},
  ) {
    return from.knowledge.documents.upload(this.machine.admin, "kb", this.place.collection, {
      name,
      body: body(text),
      replace,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process.close();
    await this.machine[Symbol.asyncDispose]();
  }
}
