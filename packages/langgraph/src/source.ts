/** The part of Pinakes that both adapters need: its containers. A client, a plain StateApi and an embedded instance all provide them. */
import type { ContainersApi, ContainerSpec } from "@pinakes/client";

export interface StateSource {
  readonly containers: ContainersApi;
}

/** A container that is declared when it is first used. Declaring it again changes nothing. */
export class OwnContainer {
  readonly name: string;
  readonly #api: ContainersApi;
  readonly #spec: ContainerSpec;
  #ready: Promise<unknown> | undefined;

  constructor(source: StateSource, name: string, spec: ContainerSpec) {
    this.name = name;
    this.#api = source.containers;
    this.#spec = spec;
  }

  async open(): Promise<ContainersApi> {
    this.#ready ??= this.#api.put(this.name, this.#spec).catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    await this.#ready;
    return this.#api;
  }
}

/** For errors of an embedded Pinakes and of its client. */
export function errorCode(error: unknown): string | undefined {
  const code: unknown = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
