import { zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { parseDocx } from "./docx.ts";
import { encode, makeDocx, par, sectionOf } from "../test-files.ts";

const styles = `
  <w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
  <w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
  <w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="My chapter"/><w:basedOn w:val="berschrift1"/></w:style>
  <w:style w:type="paragraph" w:styleId="Unter"><w:name w:val="My sub"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
  <w:style w:type="paragraph" w:styleId="Liste"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>
  <w:style w:type="paragraph" w:styleId="A"><w:name w:val="a"/><w:basedOn w:val="B"/></w:style>
  <w:style w:type="paragraph" w:styleId="B"><w:name w:val="b"/><w:basedOn w:val="A"/></w:style>`;

const cell = (text: string) => `<w:tc><w:tcPr/>${par(text)}</w:tc>`;

describe("DOCX", () => {
  it("paragraphs, and headings by the names and bases of styles, make text and sections", () => {
    const parsed = parseDocx(
      makeDocx(
        par("The Book", "Titel") +
          par("One", "berschrift1") +
          par("alpha") +
          par("Sub", "Unter") +
          par("beta") +
          par("Two", "Kapitel") +
          par("gamma", "A"),
        { "styles.xml": styles },
      ),
    );
    expect(parsed.text).toBe("The Book\n\nOne\n\nalpha\n\nSub\n\nbeta\n\nTwo\n\ngamma");
    expect(sectionOf(parsed, "alpha")).toEqual(["The Book", "One"]);
    expect(sectionOf(parsed, "beta")).toEqual(["The Book", "One", "Sub"]);
    expect(sectionOf(parsed, "gamma")).toEqual(["The Book", "Two"]);
    for (const { start, path } of parsed.sections)
      expect(parsed.text.slice(start).startsWith(path.at(-1) ?? "?")).toBe(true);
  });

  it("without styles.xml the ids decide, and an outline level makes a heading", () => {
    const parsed = parseDocx(
      makeDocx(
        `${par("A", "Heading1")}<w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>B</w:t></w:r></w:p>${par("text")}`,
      ),
    );
    expect(sectionOf(parsed, "text")).toEqual(["A", "B"]);
  });

  it("lists, tables, tabs, breaks and links", () => {
    const item = (text: string, level: number) =>
      `<w:p><w:pPr><w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
    const parsed = parseDocx(
      makeDocx(
        `${item("one", 0)}${item("deep", 1)}${par("two", "Liste")}<w:tbl><w:tr>${cell("Name")}${cell("Age")}</w:tr><w:tr>${cell("Ann")}<w:tc>${par("4")}${par("2")}</w:tc></w:tr></w:tbl>
        <w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:br w:type="page"/><w:t>d</w:t></w:r><w:hyperlink><w:r><w:t xml:space="preserve"> link</w:t></w:r></w:hyperlink></w:p>`,
        { "styles.xml": styles },
      ),
    );
    expect(parsed.text).toBe("- one\n  - deep\n- two\n\nName | Age\nAnn | 4 2\n\na\tb\ncd link");
  });

  it("deleted tracked changes and hidden text are left out, insertions stay", () => {
    const run = (text: string, properties = "") => `<w:r>${properties}<w:t>${text}</w:t></w:r>`;
    const parsed = parseDocx(
      makeDocx(
        `<w:p>${run("keep")}<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins>${run("new")}</w:ins>${run("hidden", "<w:rPr><w:vanish/></w:rPr>")}<w:moveFrom>${run("moved")}</w:moveFrom>
        <w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>
        <mc:AlternateContent><mc:Choice>${par("box")}</mc:Choice><mc:Fallback>${par("box")}</mc:Fallback></mc:AlternateContent></w:p>`,
      ),
    );
    expect(parsed.text).toBe("keepnew\n\nbox");
  });

  it("footnotes come at the end, under their number in the text", () => {
    const parsed = parseDocx(
      makeDocx(`<w:p><w:r><w:t>Claim</w:t><w:footnoteReference w:id="2"/><w:t>.</w:t></w:r></w:p>`, {
        "footnotes.xml": `<w:footnote w:type="separator" w:id="-1">${par("----")}</w:footnote><w:footnote w:id="2">${par("Source.")}</w:footnote>`,
      }),
    );
    expect(parsed.text).toBe("Claim[1].\n\n[1] Source.");
  });

  it("an archive without a document is rejected", () => {
    expect(() => parseDocx(zipSync({ "word/other.xml": encode("<a/>") }))).toThrow("no word/document.xml");
  });

  it.each([10, 200, 600])("an archive truncated at %i bytes is rejected", (length) => {
    expect(() => parseDocx(makeDocx(par("x")).slice(0, length))).toThrow(expect.objectContaining({ code: "INVALID" }));
  });

  it("broken XML inside is rejected", () => {
    expect(() => parseDocx(makeDocx("<w:p><w:r>"))).toThrow("word/document.xml is not valid XML");
  });

  it("an entry with a password is rejected", () => {
    const docx = makeDocx(par("x"));
    const directory = Buffer.from(docx.buffer).indexOf("PK\u0001\u0002");
    for (let at = directory; at >= 0; at = Buffer.from(docx.buffer).indexOf("PK\u0001\u0002", at + 4)) docx[at + 8] = 1;
    expect(() => parseDocx(docx)).toThrow("has a password");
  });
});

describe("ZIP bombs", () => {
  const spaces = " ".repeat(4_000_000);

  it("a small file that declares more than the limit is rejected before it is opened; at the limit it is read", () => {
    const docx = makeDocx(par("x") + spaces);
    expect(docx.length).toBeLessThan(50_000);
    const inflated = [...parts(docx)]
      .filter(({ name }) => name !== "[Content_Types].xml")
      .reduce((sum, { bytes }) => sum + bytes, 0);
    expect(parseDocx(docx, { docxInflatedBytesMax: inflated }).text).toBe("x");
    expect(() => parseDocx(docx, { docxInflatedBytesMax: inflated - 1 })).toThrow(
      "when it is unpacked, so it was not opened",
    );
  });

  it("one with a false size is stopped at the declared size", () => {
    const docx = makeDocx(par("x") + spaces);
    for (const { at, name } of parts(docx))
      if (name === "word/document.xml") new DataView(docx.buffer).setUint32(at + 24, 1_000, true);
    expect(() => parseDocx(docx, { docxInflatedBytesMax: 10_000 })).toThrow("larger than it says");
  });

  it("a picture that would burst is never unpacked", () => {
    const files = {
      "word/document.xml": encode(`<w:document xmlns:w="x"><w:body>${par("fine")}</w:body></w:document>`),
      "word/media/a.bin": encode(spaces),
    };
    expect(parseDocx(zipSync(files), { docxInflatedBytesMax: 10_000 }).text).toBe("fine");
  });
});

/** The entries of an archive's directory. */
function* parts(
  zip: Uint8Array<ArrayBuffer>,
): Generator<{ readonly at: number; readonly name: string; readonly bytes: number }> {
  const buffer = Buffer.from(zip.buffer);
  for (let at = buffer.indexOf("PK\u0001\u0002"); at >= 0; at = buffer.indexOf("PK\u0001\u0002", at + 4))
    yield {
      at,
      name: buffer.toString("utf8", at + 46, at + 46 + buffer.readUInt16LE(at + 28)),
      bytes: buffer.readUInt32LE(at + 24),
    };
}
