/** The styles of a docx: which are headings, and of which level, and which are list items. Word translates ids, never built-in names. */
import { readXml } from "./docx-xml.ts";
import type { Zip, ZipEntry } from "./zip.ts";

export interface ParagraphStyle {
  /** Of a heading: 0 is the title, 1 to 9 follow. */
  readonly level: number | undefined;
  readonly listItem: boolean;
}

interface Definition {
  readonly id: string;
  name: string;
  basedOn: string | undefined;
  outlineLevel: number | undefined;
  listItem: boolean | undefined;
}

export type Styles = (id: string) => ParagraphStyle;

export function readStyles(zip: Zip, entry: ZipEntry | undefined): Styles {
  const definitions = new Map<string, Definition>();
  if (entry !== undefined) readDefinitions(zip, entry, definitions);
  const known = new Map<string, ParagraphStyle>();
  return (id) => {
    let style = known.get(id);
    if (style === undefined) {
      style = resolve(definitions, id);
      known.set(id, style);
    }
    return style;
  };
}

function readDefinitions(zip: Zip, entry: ZipEntry, definitions: Map<string, Definition>): void {
  let current: Definition | undefined;
  readXml(zip, entry, {
    open(name, attribute) {
      if (name === "style") {
        current = {
          id: attribute("styleId") ?? "",
          name: "",
          basedOn: undefined,
          outlineLevel: undefined,
          listItem: undefined,
        };
        definitions.set(current.id, current);
      }
      if (current === undefined) return;
      const value = attribute("val");
      if (name === "name") current.name = value ?? "";
      else if (name === "basedOn") current.basedOn = value;
      else if (name === "outlineLvl") current.outlineLevel = outlineLevel(value);
      else if (name === "numId") current.listItem = value !== "0";
    },
    close(name) {
      if (name === "style") current = undefined;
    },
  });
}

/** As written in the file, 0 to 8; 9 is body text. */
export function outlineLevel(value: string | undefined): number | undefined {
  return value !== undefined && /^[0-9]$/.test(value) ? Number(value) : undefined;
}

const ancestorsMax = 20;

function resolve(definitions: ReadonlyMap<string, Definition>, id: string): ParagraphStyle {
  let level: number | undefined;
  let decided = false;
  let listItem: boolean | undefined;
  let next: string | undefined = id;
  // Styles may be based on each other in a cycle.
  for (let i = 0; i < ancestorsMax && next !== undefined; i += 1) {
    const definition: Definition | undefined = definitions.get(next);
    const found: number | undefined = headingLevel(definition?.name ?? next);
    if (!decided && found !== undefined) {
      level = found;
      decided = true;
    } else if (!decided && definition?.outlineLevel !== undefined) {
      level = definition.outlineLevel < 9 ? definition.outlineLevel + 1 : undefined;
      decided = true;
    }
    listItem ??= definition?.listItem;
    next = definition?.basedOn;
  }
  return { level, listItem: listItem === true && level === undefined };
}

function headingLevel(name: string): number | undefined {
  if (name.toLowerCase() === "title") return 0;
  const digit = /^heading ?([1-9])$/i.exec(name)?.[1];
  return digit === undefined ? undefined : Number(digit);
}
