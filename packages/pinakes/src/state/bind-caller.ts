/** Binds the methods of a feature to one caller: the same methods without their first argument. */
import type { Caller } from "../domain/caller.ts";

export type WithoutCaller<Feature> = {
  readonly [
    Name in keyof Feature as Feature[Name] extends (caller: Caller, ...rest: never[]) => unknown ? Name : never
  ]: Feature[Name] extends (caller: Caller, ...rest: infer Rest) => infer Result ? (...rest: Rest) => Result : never;
};

/** Bound lazily: features have many methods, a caller uses few. */
export function bindCaller<Feature extends object>(feature: Feature, caller: Caller): WithoutCaller<Feature> {
  return new Proxy(feature, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target);
      return typeof method === "function"
        ? (...rest: unknown[]) => Reflect.apply(method, target, [caller, ...rest]) as unknown
        : undefined;
    },
  }) as unknown as WithoutCaller<Feature>;
}
