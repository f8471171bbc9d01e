import { describe, expect, it } from "vitest";
import { withFreshPage, type Pages } from "./refetch.ts";

const page = (items: string, next: string | null = "more") => ({ items: items.split(""), next_cursor: next });
const list = (...pages: Pages<string>["pages"]): Pages<string> => ({
  pages,
  pageParams: pages.map((_, index) => (index === 0 ? undefined : `${index}`)),
});
const rows = ({ pages }: Pages<string>) => pages.map(({ items }) => items.join(""));
const put = (data: Pages<string>, index: number, items: string, next: string | null = "more") =>
  withFreshPage(data, index, page(items, next), (one) => one.toLowerCase());

describe("a page that was read again", () => {
  const data = list(page("abc"), page("def"), page("gh", null));

  it("rows that changed take their places; the other pages stay the same objects", () => {
    const next = put(data, 1, "dEf");
    expect(rows(next)).toEqual(["abc", "dEf", "gh"]);
    expect(next.pages[0]).toBe(data.pages[0]);
    expect(next.pages[2]).toBe(data.pages[2]);
  });

  it("new rows come first, and what they push off the page is not lost", () => {
    expect(rows(put(data, 0, "xya"))).toEqual(["xyabc", "def", "gh"]);
    expect(rows(put(data, 0, "xyz"))).toEqual(["xyzabc", "def", "gh"]);
  });

  it("deleted rows are gone, and none that was pulled up stands twice", () => {
    expect(rows(put(data, 0, "acd"))).toEqual(["acd", "ef", "gh"]);
    expect(rows(put(data, 0, "def"))).toEqual(["def", "", "gh"]);
    expect(rows(put(data, 0, "xac"))).toEqual(["xac", "def", "gh"]);
  });

  it("a row that moved up is not left where it was", () => {
    expect(rows(put(data, 0, "gab"))).toEqual(["gabc", "def", "h"]);
  });

  it("the last page grows and shrinks; where the list ends now, nothing comes after", () => {
    expect(rows(put(data, 2, "ghi", null))).toEqual(["abc", "def", "ghi"]);
    expect(put(data, 2, "ghi", "z").pages.at(-1)?.next_cursor).toBe("z");
    const cut = put(data, 1, "d", null);
    expect([rows(cut), cut.pageParams]).toEqual([
      ["abc", "d"],
      [undefined, "1"],
    ]);
  });

  it("a page that is not there any more changes nothing", () => {
    expect(put(data, 3, "xyz")).toBe(data);
  });
});
