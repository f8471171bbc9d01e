import type { Page } from "@pinakes/client";
import { InfiniteQueryObserver, QueryClient, infiniteQueryOptions } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ListMeta } from "./page.ts";
import { changedPagesMax, newPagesMax, refetchChanged, refetchAll } from "./refetch.ts";

interface Row {
  readonly id: number;
  readonly text: string;
}

const pageSize = 10;
const queryKey = ["rows"];

/** A list on a server: highest number first; the cursor is the last number of the previous page. */
class Rows {
  readonly asked: string[] = [];
  #rows: readonly Row[] = [];
  #gate: Promise<void> = Promise.resolve();

  add(from: number, to: number): void {
    for (let id = from; id <= to; id += 1) this.#rows = [{ id, text: "old" }, ...this.#rows];
  }

  change(id: number): void {
    this.#rows = this.#rows.map((row) => (row.id === id ? { id, text: "new" } : row));
  }

  remove(id: number): void {
    this.#rows = this.#rows.filter((row) => row.id !== id);
  }

  /** Blocks responses until the returned function is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    return resolve;
  }

  async read(cursor: string | undefined): Promise<Page<Row>> {
    this.asked.push(cursor ?? "first");
    await this.#gate;
    const rows = this.#rows.filter(({ id }) => cursor === undefined || id < Number(cursor));
    const items = rows.slice(0, pageSize);
    return { items, next_cursor: rows.length > pageSize ? String(items.at(-1)?.id) : null };
  }
}

function observe(client: QueryClient, server: Rows) {
  const meta: { readonly list: ListMeta } = {
    list: { read: (cursor) => server.read(cursor), idOf: (row) => String((row as Row).id) },
  };
  const options = infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam }) => server.read(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: Page<Row>) => page.next_cursor ?? undefined,
    meta,
  });
  return new InfiniteQueryObserver(client, options);
}

describe("refetching a long list", () => {
  let server: Rows;
  let client: QueryClient;
  let list: ReturnType<typeof observe>;
  let leave: () => void;
  beforeEach(() => {
    server = new Rows();
    client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  });
  afterEach(() => {
    leave();
    client.clear();
  });

  async function open(pages: number): Promise<void> {
    list = observe(client, server);
    leave = list.subscribe(() => {});
    await list.refetch();
    for (let count = 1; count < pages; count += 1) await list.fetchNextPage();
    server.asked.length = 0;
  }

  const rows = () => list.getCurrentResult().data?.pages.flatMap(({ items }) => items) ?? [];
  const numbers = () => rows().map(({ id }) => id);
  const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => from - index);

  it("one new row among a hundred pages reads two of them", async () => {
    server.add(1, 1_000);
    await open(100);
    server.add(1_001, 1_001);
    expect(await refetchChanged(client, queryKey, ["1001"])).toBe(false);
    expect(server.asked).toEqual(["11", "first"]);
    expect(numbers()).toEqual(down(1_001, 1));
  });

  it("a row that changed or went is read with its page", async () => {
    server.add(1, 50);
    await open(4);
    server.change(25);
    server.remove(35);
    expect(await refetchChanged(client, queryKey, ["25", "35"])).toBe(false);
    expect(server.asked).toEqual(["31", "41", "first"]);
    expect(numbers()).toEqual(down(50, 11).filter((id) => id !== 35));
    expect(rows().find(({ id }) => id === 25)?.text).toBe("new");
  });

  it(`of many pages with changed rows ${changedPagesMax} are read at a time, and the rest when asked again`, async () => {
    server.add(1, 100);
    await open(9);
    const changed = [15, 25, 35, 45].map((id) => (server.change(id), String(id)));
    expect(await refetchChanged(client, queryKey, changed.slice(1))).toBe(false);
    expect(server.asked).toHaveLength(changedPagesMax + 1);
    server.asked.length = 0;
    expect(await refetchChanged(client, queryKey, changed)).toBe(true);
    expect(server.asked).toHaveLength(changedPagesMax + 1);
    expect(await refetchChanged(client, queryKey)).toBe(false);
    expect(rows().filter(({ text }) => text === "new")).toHaveLength(4);
  });

  it(`up to ${newPagesMax} pages of new rows are put before the others; with more the list begins anew`, async () => {
    server.add(1, 30);
    await open(2);
    server.add(31, 30 + newPagesMax * pageSize - 1);
    await refetchChanged(client, queryKey);
    expect(numbers()).toEqual(down(30 + newPagesMax * pageSize - 1, 11));
    const top = 200 + newPagesMax * pageSize;
    server.add(200, top);
    await refetchChanged(client, queryKey);
    expect(numbers()).toEqual(down(top, top - newPagesMax * pageSize + 1));
    await list.fetchNextPage();
    expect(numbers()).toEqual([...down(top, 200), ...down(79, 71)]);
  });

  it("a next page on its way is neither ended nor lost, and overwrites nothing", async () => {
    server.add(1, 50);
    await open(2);
    const release = server.hold();
    const next = list.fetchNextPage();
    server.add(51, 51);
    const refetched = refetchChanged(client, queryKey);
    const whole = refetchAll(client);
    release();
    await Promise.all([next, refetched, whole]);
    expect(server.asked[0]).toBe("31");
    expect(numbers()).toEqual(down(51, 22));
  });

  it("a list of one page is read as a whole; one that nobody looks at when it is shown again", async () => {
    server.add(1, 5);
    await open(1);
    server.add(6, 6);
    await refetchChanged(client, queryKey);
    expect([numbers(), server.asked]).toEqual([down(6, 1), ["first"]]);
    leave();
    await refetchChanged(client, queryKey);
    expect(server.asked).toEqual(["first"]);
    expect(client.getQueryState(queryKey)?.isInvalidated).toBe(true);
  });
});
