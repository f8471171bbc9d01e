/**
 * A part of the page that is loaded on first use: a screen, a tab, a graph.
 *
 * React caches a failed load permanently, and the router then reloads the document, which shows the browser's error page while the server is
 * down. Here a failure is shown in place of the part, and the load is retried on request and when the connection is restored.
 * If the server responds but the part is missing, the page is of an older build than the server: it is reloaded, once per build.
 */
import { useEffect, useSyncExternalStore, type ComponentType, type ReactNode } from "react";
import { checkConnection, onHealed } from "../api/connection.ts";
import { UnreachableError } from "../api/problem.ts";
import { stateStrings as s } from "../strings/states.ts";
import { ErrorBox, Loading } from "./states.tsx";

const reloadedKey = "pinakes.reloaded";

interface LazyPart<Props> {
  (props: Props): ReactNode;
  /** For the router, which preloads a screen when its link is hovered. Never rejects: the part itself shows the error. */
  readonly preload: () => Promise<void>;
}

interface State<Props> {
  readonly part?: ComponentType<Props>;
  readonly failure?: unknown;
}

interface Looks<Props> {
  readonly whileLoading?: (props: Props) => ReactNode;
  readonly whenFailed?: (reason: ReactNode) => ReactNode;
}

export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  looks: Looks<Props> = {},
): LazyPart<Props> {
  const { whileLoading = () => <Loading />, whenFailed = (reason: ReactNode) => <div className="p-4">{reason}</div> } =
    looks;
  const listeners = new Set<() => void>();
  let state: State<Props> = {};
  let loading: Promise<void> | undefined;
  const set = (next: State<Props>) => {
    state = next;
    for (const listener of listeners) listener();
  };
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const attempt = async () => {
    set({});
    try {
      set({ part: await loadWithReason(load) });
    } catch (failure) {
      set({ failure });
    } finally {
      loading = undefined;
    }
  };
  const preload = () => (state.part === undefined ? (loading ??= attempt()) : Promise.resolve());
  /** Only a rendered part reloads the page, not a preload. */
  const show = async () => {
    await preload();
    if (state.failure instanceof GoneError && mayReload()) location.reload();
  };
  /** Browsers cache a failed module import: only a reloaded page requests it again. */
  const again = async () => {
    if (state.failure instanceof GoneError && (await checkConnection())) location.reload();
    else await show();
  };
  function Part(props: Props) {
    const { part: Loaded, failure } = useSyncExternalStore(subscribe, () => state);
    useEffect(() => {
      void show();
      return onHealed(() => void show());
    }, []);
    if (Loaded !== undefined) return <Loaded {...props} />;
    if (failure === undefined) return whileLoading(props);
    return whenFailed(<ErrorBox error={failure} onRetry={() => void again()} />);
  }
  return Object.assign(Part, { preload });
}

class GoneError extends Error {}

async function loadWithReason<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load();
  } catch (error) {
    if (!(await checkConnection()))
      throw new UnreachableError("A part of the page could not be loaded.", { cause: error });
  }
  try {
    // The server responds, so the failure may have been transient.
    return await load();
  } catch (error) {
    throw new GoneError(s.partGone, { cause: error });
  }
}

/** At most one reload per build, which is identified by its first script. */
function mayReload(): boolean {
  const build = document.querySelector<HTMLScriptElement>("script[type=module][src]")?.src ?? "";
  try {
    if (sessionStorage.getItem(reloadedKey) === build) return false;
    sessionStorage.setItem(reloadedKey, build);
    return true;
  } catch {
    // Without session storage, the page would reload forever.
    return false;
  }
}
