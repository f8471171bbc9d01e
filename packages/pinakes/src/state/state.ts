/** Composes the features of state. Each call takes a caller first; `as` binds one. */
import type { StateApi } from "@pinakes/client";
import { type Caller, requireCaller } from "../domain/caller.ts";
import type { Containers } from "./containers/containers.ts";
import type { Databases } from "./databases/databases.ts";
import type { Memories } from "./memories/memories.ts";
import type { Metrics } from "./series/metrics.ts";
import type { ToolLog } from "./series/tool-log.ts";
import type { Telemetry } from "./telemetry/telemetry.ts";
import type { Entities } from "./threads/entities.ts";
import type { Threads } from "./threads/threads.ts";
import type { Workflows } from "./workflows/workflows.ts";

export interface StateFeatures {
  readonly workflows: Workflows;
  readonly memories: Memories;
  readonly threads: Threads;
  readonly systemThreads: Threads;
  readonly entities: Entities;
  readonly metrics: Metrics;
  readonly tools: ToolLog;
  readonly containers: Containers;
  readonly databases: Databases;
  readonly telemetry: Telemetry;
}

export class State implements StateFeatures {
  readonly workflows: Workflows;
  readonly memories: Memories;
  readonly threads: Threads;
  readonly systemThreads: Threads;
  readonly entities: Entities;
  readonly metrics: Metrics;
  readonly tools: ToolLog;
  readonly containers: Containers;
  readonly databases: Databases;
  readonly telemetry: Telemetry;

  constructor(features: StateFeatures) {
    this.workflows = features.workflows;
    this.memories = features.memories;
    this.threads = features.threads;
    this.systemThreads = features.systemThreads;
    this.entities = features.entities;
    this.metrics = features.metrics;
    this.tools = features.tools;
    this.containers = features.containers;
    this.databases = features.databases;
    this.telemetry = features.telemetry;
  }

  /** Everything, bound to one caller: the basis of a client of `@pinakes/client`. */
  as(caller: Caller): StateApi {
    requireCaller(caller);
    return {
      workflows: bindCaller(this.workflows, caller),
      memories: bindCaller(this.memories, caller),
      threads: bindCaller(this.threads, caller),
      systemThreads: bindCaller(this.systemThreads, caller),
      entities: bindCaller(this.entities, caller),
      metrics: bindCaller(this.metrics, caller),
      tools: bindCaller(this.tools, caller),
      containers: bindCaller(this.containers, caller),
    };
  }
}

/** Binds the methods of a feature to one caller: the same methods without their first argument. */
type WithoutCaller<Feature> = {
  readonly [
    Name in keyof Feature as Feature[Name] extends (caller: Caller, ...rest: never[]) => unknown ? Name : never
  ]: Feature[Name] extends (caller: Caller, ...rest: infer Rest) => infer Result ? (...rest: Rest) => Result : never;
};

/** Bound lazily: features have many methods, a caller uses few. */
function bindCaller<Feature extends object>(feature: Feature, caller: Caller): WithoutCaller<Feature> {
  return new Proxy(feature, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target);
      return typeof method === "function"
        ? (...rest: unknown[]) => Reflect.apply(method, target, [caller, ...rest]) as unknown
        : undefined;
    },
  }) as unknown as WithoutCaller<Feature>;
}
