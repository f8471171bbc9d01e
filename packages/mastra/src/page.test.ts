import { expect, it } from "vitest";
import { takePage, windowOf } from "./page.ts";

async function* numbers(count: number, met: number[] = []) {
  for (let i = 0; i < count; i += 1) {
    met.push(i);
    yield i;
  }
}

it("a page without a total reads one item past its end, and no more", async () => {
  const met: number[] = [];
  const page = await takePage(numbers(100, met), windowOf(1, 10, 40), { countAll: false });
  expect([page.items, page.hasMore, met.length]).toEqual([[10, 11, 12, 13, 14, 15, 16, 17, 18, 19], true, 21]);
});

it("a page that ends where the list ends has no next one; pages that cannot be are refused", async () => {
  expect(await takePage(numbers(20), windowOf(1, 10, 40))).toMatchObject({ total: 20, hasMore: false });
  expect(await takePage(numbers(21), windowOf(1, 10, 40))).toMatchObject({ total: 21, hasMore: true });
  expect(await takePage(numbers(21), windowOf(0, false, 40))).toMatchObject({ total: 21, hasMore: false });
  for (const page of [-1, 0.5, Number.NaN]) expect(() => windowOf(page, 10, 40)).toThrow(/page must be >= 0/);
  expect(() => windowOf(2 ** 50, 100, 40)).toThrow(/too large/);
});
