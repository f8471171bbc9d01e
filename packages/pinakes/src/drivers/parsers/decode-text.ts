/**
 * The bytes of a text file to a string: by its byte order mark, else UTF-8, else UTF-16 if every other byte is zero, else the declared
 * encoding, else windows-1252, which decodes any byte and is therefore reported as a warning.
 */
import { invalid } from "../../domain/errors.ts";
import { parserLimits } from "./limits.ts";
import { tooMuchText } from "./text-builder.ts";

export interface DecodedText {
  readonly text: string;
  readonly warnings: readonly string[];
}

export function decodeText(bytes: Uint8Array, charsMax: number = parserLimits.textCharsMax): DecodedText {
  const warnings: string[] = [];
  const raw = decode(bytes, warnings);
  const text = raw.replaceAll("\0", "").replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  if (text.length > charsMax) throw tooMuchText(charsMax);
  return { text, warnings };
}

function decode(bytes: Uint8Array, warnings: string[]): string {
  const wide = utf16Of(bytes);
  if (wide !== undefined) return new TextDecoder(wide).decode(bytes);
  const strict = decodeStrictly(bytes, "utf-8");
  if (strict !== undefined) return strict;
  const declared = declaredEncoding(bytes);
  if (declared !== undefined && declared !== "utf-8") {
    const text = decodeStrictly(bytes, declared);
    if (text !== undefined) return text;
  }
  const loose = new TextDecoder("utf-8").decode(bytes);
  const broken = count(loose, /\ufffd/g);
  if (count(loose, /[\u0080-\ufffc]/g) > broken) {
    warnings.push(
      `${broken} ${broken === 1 ? "character is" : "characters are"} not valid UTF-8 and shown as \ufffd; save the file as UTF-8 to keep them.`,
    );
    return loose;
  }
  warnings.push(
    "The text is not UTF-8; it was read as windows-1252 (Western European). If letters look wrong, save the file as UTF-8.",
  );
  return new TextDecoder("windows-1252").decode(bytes);
}

function decodeStrictly(bytes: Uint8Array, label: string): string | undefined {
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    // A result, not a failure: these bytes have another encoding, or the declared encoding is unknown.
    return undefined;
  }
}

function count(text: string, pattern: RegExp): number {
  let found = 0;
  for (const _ of text.matchAll(pattern)) found += 1;
  return found;
}

const sampleBytesMax = 65_536;

/** UTF-16 by its mark, or without one by the zeros that Western text has in every other byte. */
export function utf16Of(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return refuseUtf32(bytes, "utf-16le");
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  if (bytes.length < 4 || bytes.length % 2 === 1) return undefined;
  const length = Math.min(bytes.length, sampleBytesMax);
  const zeros: [number, number] = [0, 0];
  for (let i = 0; i < length; i += 1) if (bytes[i] === 0) zeros[(i % 2) as 0 | 1] += 1;
  const half = length / 2;
  if (zeros[1] > half * 0.4 && zeros[0] < half * 0.05) return "utf-16le";
  if (zeros[0] > half * 0.4 && zeros[1] < half * 0.05) return "utf-16be";
  return undefined;
}

function refuseUtf32(bytes: Uint8Array, label: "utf-16le"): "utf-16le" {
  if (bytes.length >= 8 && bytes[2] === 0 && bytes[3] === 0)
    throw invalid("The text is UTF-32, which is not read; save the file as UTF-8.");
  return label;
}

/** `<?xml encoding="…"?>` or `<meta charset="…">` near the beginning. */
function declaredEncoding(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 2_048));
  const found =
    /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w-]{1,40})["']/i.exec(head) ??
    /<meta[^>]{0,200}\bcharset\s*=\s*["']?([\w-]{1,40})/i.exec(head);
  return found?.[1]?.toLowerCase();
}
