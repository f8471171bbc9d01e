/**
 * Joins the text fragments on a page of a PDF to lines and paragraphs. A PDF only has positions: a line that reaches the right edge of its
 * column continues in the next one, one that ends early does not, and a vertical gap begins a new paragraph.
 */
export interface Piece {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly endsLine: boolean;
}

interface Line {
  text: string;
  readonly x: number;
  readonly y: number;
  right: number;
  height: number;
}

/** In heights of a line. */
const sameLineHeightsMax = 0.5;
const paragraphHeightsMin = 1.7;
/** Of the width of the widest line in the column. */
const fullLineShareMin = 0.85;

export function layOut(pieces: readonly Piece[]): string {
  const lines = toLines(pieces);
  const rightEdges = columnEdges(lines);
  const parts: string[] = [];
  let before: Line | undefined;
  for (const line of lines) {
    if (before !== undefined) join(parts, line.text, joint(before, line, rightEdges));
    parts.push(line.text);
    before = line;
  }
  return parts.join("");
}

function toLines(pieces: readonly Piece[]): Line[] {
  const lines: Line[] = [];
  let line: Line | undefined;
  const end = () => {
    if (line !== undefined && line.text.trim() !== "") lines.push({ ...line, text: line.text.trim() });
    line = undefined;
  };
  for (const piece of pieces) {
    if (
      line !== undefined &&
      piece.text.trim() !== "" &&
      Math.abs(piece.y - line.y) > sameLineHeightsMax * Math.max(line.height, piece.height, 1)
    )
      end();
    if (piece.text !== "") {
      if (line === undefined)
        line = { text: piece.text, x: piece.x, y: piece.y, right: piece.x + piece.width, height: piece.height };
      else {
        line.text += piece.text;
        line.right = Math.max(line.right, piece.x + piece.width);
        line.height = Math.max(line.height, piece.height);
      }
    }
    if (piece.endsLine) end();
  }
  end();
  return lines;
}

/** Lines with the same start form a column. */
function column({ x }: Line): number {
  return Math.round(x / 4);
}

function columnEdges(lines: readonly Line[]): Map<number, number> {
  const edges = new Map<number, number>();
  for (const line of lines) edges.set(column(line), Math.max(edges.get(column(line)) ?? 0, line.right));
  return edges;
}

type Joint = "flow" | "line" | "paragraph";

const listItem = /^(?:[•●▪◦‣·*–—-]|\(?(?:\d{1,3}|[a-z])[.)])\s/i;

function joint(before: Line, line: Line, edges: ReadonlyMap<number, number>): Joint {
  const height = Math.max(before.height, line.height, 1);
  const gap = before.y - line.y;
  // Another font size: a heading, or the text after one.
  const alike = Math.abs(before.height - line.height) <= 0.1 * height;
  if (gap > paragraphHeightsMin * height || (gap > 0 && !alike)) return "paragraph";
  if (gap <= 0 || listItem.test(line.text)) return "line";
  const edge = edges.get(column(before)) ?? before.right;
  return before.right - before.x >= fullLineShareMin * (edge - before.x) ? "flow" : "line";
}

const hyphenated = /\p{L}[-\u2010]$/u;
const continues = /^\p{Ll}/u;

/** Adds the separator between the last line and the next, or removes the hyphen of a divided word. */
function join(parts: string[], next: string, how: Joint): void {
  const last = parts.pop() ?? "";
  const divided = last.endsWith("\u00ad") || (hyphenated.test(last.slice(-3)) && continues.test(next));
  if (how === "paragraph") parts.push(last, "\n\n");
  else if (divided) parts.push(last.slice(0, -1));
  else parts.push(last, how === "flow" ? " " : "\n");
}
