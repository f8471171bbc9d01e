/** Reads one XML part of a docx as a stream of tags and texts, by their names without prefix. */
import { SaxesParser } from "saxes";
import { invalid } from "../../../domain/errors.ts";
import type { Zip, ZipEntry } from "./zip.ts";

export interface XmlHandler {
  open?(name: string, attribute: (name: string) => string | undefined): void;
  close?(name: string): void;
  text?(text: string): void;
}

export function readXml(zip: Zip, entry: ZipEntry, handler: XmlHandler): void {
  const parser = new SaxesParser({ xmlns: false, position: false });
  parser.on("error", (error) => {
    throw invalid(
      `The file is damaged: its part ${entry.name} is not valid XML (${error.message}). Open it in Word and save it again.`,
    );
  });
  parser.on("opentag", (tag) => handler.open?.(localName(tag.name), (name) => attributeOf(tag.attributes, name)));
  parser.on("closetag", (tag) => handler.close?.(localName(tag.name)));
  parser.on("text", (text) => handler.text?.(text));
  parser.on("cdata", (text) => handler.text?.(text));
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  zip.inflate(entry, (piece, last) => {
    if (piece.length === 0 && !last) return;
    decoder ??= new TextDecoder(piece[0] === 0xff ? "utf-16le" : piece[0] === 0xfe ? "utf-16be" : "utf-8");
    parser.write(decoder.decode(piece, { stream: !last }));
  });
  parser.close();
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function attributeOf(attributes: Readonly<Record<string, string>>, name: string): string | undefined {
  for (const key in attributes) if (localName(key) === name) return attributes[key];
  return undefined;
}
