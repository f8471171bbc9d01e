/**
 * The path of a key on disk. Every valid key has a path of its own on every file system, also one that folds case, normalises
 * Unicode, allows 255 bytes a name, or cannot hold a file `a` beside a folder `a`:
 *
 *   a/b.txt        → a.d/b%2etxt.o          folders end in .d, objects in .o
 *   A              → %41.o                  only a–z, 0–9, "-" and "_" stand for themselves; other bytes are %xx
 *   <100 × "x">    → <72 × "x">.c/<28 × "x">.o   a segment continues in a .c folder after every 72 bytes
 *
 * Invariants
 * - distinct keys have distinct paths, and a path leads back to its key (`pathOf`, `decodeName`);
 * - within a folder no name but that of a .c folder reaches 72 bytes, so the contents of a .c folder are one unbroken run of keys, and
 *   sorting the names of each folder (walk.ts) gives the order of the keys.
 *
 * Keys are handled as "byte strings", one character per UTF-8 byte: then `<` is byte order, and a cut may go through a character.
 */
const pieceBytes = 72;

export type NameKind = "object" | "folder" | "continued";
const suffixes = { object: ".o", folder: ".d", continued: ".c" } as const;

export function toByteString(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

export function fromByteString(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** The names below the root that lead to the object, the file's last. */
export function pathOf(key: string): string[] {
  const segments = toByteString(key).split("/");
  return segments.flatMap((segment, i) => {
    const names: string[] = [];
    let rest = segment;
    for (; rest.length >= pieceBytes; rest = rest.slice(pieceBytes))
      names.push(encodeName(rest.slice(0, pieceBytes), "continued"));
    names.push(encodeName(rest, i === segments.length - 1 ? "object" : "folder"));
    return names;
  });
}

export interface DecodedName {
  readonly kind: NameKind;
  /** The part that the name contributes to the key, as a byte string: a folder's ends in "/". */
  readonly bytes: string;
}

/** Undefined for a name that this driver would not have written. */
export function decodeName(name: string): DecodedName | undefined {
  for (const kind of ["object", "folder", "continued"] as const) {
    if (!name.endsWith(suffixes[kind])) continue;
    const encoded = name.slice(0, -2);
    const bytes = encoded.replaceAll(/%([0-9a-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (encodeName(bytes, kind) !== name) return undefined;
    return { kind, bytes: kind === "folder" ? `${bytes}/` : bytes };
  }
  return undefined;
}

function encodeName(bytes: string, kind: NameKind): string {
  return (
    bytes.replaceAll(/[^a-z0-9_-]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`) + suffixes[kind]
  );
}
