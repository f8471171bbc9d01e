import type { ComponentType } from "react";
import { stateStrings as s } from "../strings/states.ts";
import { lazyPart } from "./lazy-part.tsx";
import { Page } from "./panel.tsx";

export function lazyPage(load: () => Promise<ComponentType>) {
  return lazyPart(load, { whenFailed: (reason) => <Page title={s.pageMissing}>{reason}</Page> });
}
